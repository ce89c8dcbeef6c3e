<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ja" sourcelanguage="en">
<context>
    <name>grus</name>
    <message>
        <source>0 always picks the most likely token. Higher values give more varied replies.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>0 にすると常に最も確率の高いトークンを選びます。値を大きくすると回答が多様になります。</translation>
    </message>
    <message>
        <source>2 minutes ago</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>2 分前</translation>
    </message>
    <message>
        <source>3 to 15 seconds of one voice are best.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>1 人の声で 3～15 秒が最適です。</translation>
    </message>
    <message>
        <source>A Pocket-TTS model speaks one language, which is not chosen: leave it at automatic.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Pocket-TTS のモデルは 1 つの言語だけを話し、言語は選べません。自動のままにしてください。</translation>
    </message>
    <message>
        <source>A cloned voice keeps the pitch and pace of its recording.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>クローンした声は、録音の高さと速さを保ちます。</translation>
    </message>
    <message>
        <source>A fact has at least one word.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>事実には 1 語以上が必要です。</translation>
    </message>
    <message>
        <source>A fact has at most {most} characters, and this one has {n}.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>事実は {most} 文字までです。これは {n} 文字です。</translation>
    </message>
    <message>
        <source>A file</source>
        <extracomment>app/explain.py</extracomment>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>A key is one word of letters, digits and signs.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>キーは文字、数字、記号からなる 1 語です。</translation>
    </message>
    <message>
        <source>A line for each word: word = how it is said. Phonemes between slashes are for Kokoro.</source>
        <extracomment>app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>1 行に 1 語ずつ、単語 = 読み方 の形で書きます。スラッシュで囲んだ音素は Kokoro 用です。</translation>
    </message>
    <message>
        <source>A model may call these in conversations where you switch them on. You are asked before each call.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>オンにした会話で、モデルがこれらを呼び出せます。呼び出しの前に毎回確認します。</translation>
    </message>
    <message>
        <source>A model that calls tools may propose a fact. You are asked before it is kept, and can edit or delete it here.</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>ツールを呼び出すモデルは、覚えておく事実を提案できます。保存の前に確認され、ここで編集や削除ができます。</translation>
    </message>
    <message>
        <source>A new version is downloaded over https only.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新しいバージョンは https でのみダウンロードされます。</translation>
    </message>
    <message>
        <source>A part of the file is missing: {name}.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>ファイルの一部がありません: {name}。</translation>
    </message>
    <message>
        <source>A prompt goes into the message field, where you can change it before you send it.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>プロンプトはメッセージ欄に入り、送信前に変更できます。</translation>
    </message>
    <message>
        <source>A recording must be one row of finite samples.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>録音は、有限な値のサンプルを 1 列に並べたものでなければなりません。</translation>
    </message>
    <message>
        <source>A reply is being written in another conversation. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>別の会話で回答を生成しています。完了を待つか、停止してください。</translation>
    </message>
    <message>
        <source>A reply is being written. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>返信を作成中です。完了を待つか、停止してください。</translation>
    </message>
    <message>
        <source>A saved voice is not sent to a server elsewhere.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>保存した声はリモートサーバーに送信されません。</translation>
    </message>
    <message>
        <source>A server&apos;s address holds no password, no question mark and no hash. The key is asked for.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>サーバーのアドレスにパスワード、?、# は使えません。キーは別に入力します。</translation>
    </message>
    <message>
        <source>A server&apos;s address is like http://192.168.1.5:8000 or https://example.org/v1.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>サーバーのアドレスは http://192.168.1.5:8000 や https://example.org/v1 の形です。</translation>
    </message>
    <message>
        <source>A server&apos;s name has up to 40 letters, digits, dots and dashes: {name} does not fit.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>サーバー名は英字、数字、ピリオド、ハイフンの 40 文字以内です。{name} は使えません。</translation>
    </message>
    <message>
        <source>A step of the engine failed: {kind}: {error}</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>エンジンの処理に失敗しました: {kind}: {error}</translation>
    </message>
    <message>
        <source>A system library for sound is missing ({error}). On Debian and Ubuntu: sudo apt-get install libpulse0</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>サウンドに必要なシステムライブラリがありません（{error}）。Debian と Ubuntu の場合: sudo apt-get install libpulse0</translation>
    </message>
    <message>
        <source>A token is one word of letters and digits, such as hf_... on your Hugging Face page.</source>
        <extracomment>engine/hub/token.py</extracomment>
        <translation>トークンは、Hugging Face のページにある hf_... のような英数字の文字列です。</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring, but the keyring cannot be opened.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>トークンはシステムのキーリングに保存されていますが、キーリングを開けません。</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>トークンはシステムのキーリングに保存されています。</translation>
    </message>
    <message>
        <source>A token is stored in {file}, which only you can read. No system keyring is available.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>トークンは {file} に保存されています。このファイルはあなただけが読めます。システムのキーリングは利用できません。</translation>
    </message>
    <message>
        <source>A voice needs a name and a recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声には名前と録音が必要です。</translation>
    </message>
    <message>
        <source>Above 1, tokens that already occurred become less likely.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>1 より大きくすると、すでに出たトークンが選ばれにくくなります。</translation>
    </message>
    <message>
        <source>Access</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>アクセス</translation>
    </message>
    <message>
        <source>Accurate answers and reasoning, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>正確な回答と思考。16 GB のコンピューター向け。</translation>
    </message>
    <message>
        <source>Accurate answers at the speed of a small model: 4 of 26 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>小型モデルの速さで正確な回答。トークンあたり 260 億中 40 億のパラメーターが動作。32 GB 向け。</translation>
    </message>
    <message>
        <source>Accurate everyday answers in more than 100 languages, for machines with 8 to 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>100 以上の言語で日常の質問に正確に回答。8～16 GB のコンピューター向け。</translation>
    </message>
    <message>
        <source>Accurate long answers, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>正確で長い回答。高速な 32 GB メモリー向け。</translation>
    </message>
    <message>
        <source>Active requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>処理中のリクエスト</translation>
    </message>
    <message>
        <source>Add</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>追加</translation>
    </message>
    <message>
        <source>Add a fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>事実を追加</translation>
    </message>
    <message>
        <source>Add a fact, and press Enter</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>事実を入力して Enter キーを押します</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <extracomment>app/gui/libraries/pane.py, app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>フォルダーを追加</translation>
    </message>
    <message>
        <source>Add a folder of documents…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>書類のフォルダを追加…</translation>
    </message>
    <message>
        <source>Add a model folder</source>
        <extracomment>app/gui/chat/pane.py, app/gui/model_box.py, app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>モデルのフォルダーを追加</translation>
    </message>
    <message>
        <source>Add a model folder…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>モデルのフォルダーを追加…</translation>
    </message>
    <message>
        <source>Add a server</source>
        <extracomment>app/gui/models/pane.py, app/gui/models/remote_form.py</extracomment>
        <translation>サーバーを追加</translation>
    </message>
    <message>
        <source>Add an MCP server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>MCP サーバーを追加</translation>
    </message>
    <message>
        <source>Add audio files</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>音声ファイルを追加</translation>
    </message>
    <message>
        <source>Add files</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>ファイルを追加</translation>
    </message>
    <message>
        <source>Add files…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>ファイルを追加…</translation>
    </message>
    <message>
        <source>Add from JSON</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>JSON から追加</translation>
    </message>
    <message>
        <source>Add server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>サーバーを追加</translation>
    </message>
    <message>
        <source>Add tools…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>ツールを追加…</translation>
    </message>
    <message>
        <source>Added from {folder}: {models}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{folder} から追加しました: {models}。</translation>
    </message>
    <message>
        <source>Added: {names}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>追加しました: {names}。</translation>
    </message>
    <message>
        <source>Added: {names}. Left out: {fields}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>追加しました: {names}。除外: {fields}。</translation>
    </message>
    <message>
        <source>Address</source>
        <extracomment>app/gui/models/remote_form.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>アドレス</translation>
    </message>
    <message>
        <source>Address of the search</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>検索のアドレス</translation>
    </message>
    <message>
        <source>Adds what the file contains. Settings with the same name are replaced.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ファイルの内容を追加します。同じ名前の設定は置き換えられます。</translation>
    </message>
    <message>
        <source>All</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>すべて</translation>
    </message>
    <message>
        <source>All files of {model} are intact.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} のファイルに問題はありません。</translation>
    </message>
    <message>
        <source>All pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>すべてのページ</translation>
    </message>
    <message>
        <source>Allow</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>許可</translation>
    </message>
    <message>
        <source>Allow in this conversation</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>この会話では許可</translation>
    </message>
    <message>
        <source>Allow once</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>今回だけ許可</translation>
    </message>
    <message>
        <source>Allow {tool}?</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} を許可しますか？</translation>
    </message>
    <message>
        <source>Allowed web origins (CORS)</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>許可する Web オリジン（CORS）</translation>
    </message>
    <message>
        <source>Also available as</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ほかの形式</translation>
    </message>
    <message>
        <source>Always</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>常に</translation>
    </message>
    <message>
        <source>Always allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>常に許可</translation>
    </message>
    <message>
        <source>Among how many devices a text model is split, which compute it together. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>テキストモデルを分割して一緒に計算するデバイスの数です。今後読み込むモデルに適用されます。</translation>
    </message>
    <message>
        <source>An audiobook is written as {kinds}, not as {ending}.</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>オーディオブックは {kinds} で書き出します。{ending} では書き出せません。</translation>
    </message>
    <message>
        <source>Analyzing the recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>録音を分析しています。</translation>
    </message>
    <message>
        <source>Another name</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>別の名前</translation>
    </message>
    <message>
        <source>Another process is making this audiobook now: {folder}.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>別のプロセスがこのオーディオブックを作成中です: {folder}</translation>
    </message>
    <message>
        <source>Answers next: {models}.</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>次に回答: {models}。</translation>
    </message>
    <message>
        <source>Answers the next message, too.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>次のメッセージにも回答します。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>外観</translation>
    </message>
    <message>
        <source>Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Grus の再起動後に適用されます。</translation>
    </message>
    <message>
        <source>Architecture</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>アーキテクチャ</translation>
    </message>
    <message>
        <source>Arguments</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>引数</translation>
    </message>
    <message>
        <source>Ask</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>確認する</translation>
    </message>
    <message>
        <source>Ask about images: a vision model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>画像について質問する: 画像認識モデル。</translation>
    </message>
    <message>
        <source>Ask anything</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>何でも聞いてください</translation>
    </message>
    <message>
        <source>Ask in Chat</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>チャットで質問</translation>
    </message>
    <message>
        <source>Ask your documents</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>書類に質問する</translation>
    </message>
    <message>
        <source>Asking the server for its models.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>サーバーにモデルを問い合わせています。</translation>
    </message>
    <message>
        <source>Asking the tool servers.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>ツールサーバーに問い合わせています。</translation>
    </message>
    <message>
        <source>Asking {name} where to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} にサインイン先を問い合わせています。</translation>
    </message>
    <message>
        <source>At most {n} models are compared.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>比較できるモデルは最大 {n} 個です。</translation>
    </message>
    <message>
        <source>Attach</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>添付</translation>
    </message>
    <message>
        <source>Attach a resource</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>リソースを添付</translation>
    </message>
    <message>
        <source>Attach a resource…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>リソースを添付…</translation>
    </message>
    <message>
        <source>Attach files</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>ファイルを添付</translation>
    </message>
    <message>
        <source>Attachments</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>添付ファイル</translation>
    </message>
    <message>
        <source>Audio</source>
        <extracomment>app/gui/listen/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>音声</translation>
    </message>
    <message>
        <source>Audiobooks are written through PyAV, which is missing here: pip install av</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>オーディオブックの書き出しには PyAV が必要ですが、見つかりません: pip install av</translation>
    </message>
    <message>
        <source>Automatic</source>
        <extracomment>app/gui/viewmodels/settings.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>自動</translation>
    </message>
    <message>
        <source>Backend</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>バックエンド</translation>
    </message>
    <message>
        <source>Backend and device apply to models loaded from now on. The memory limit applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>バックエンドとデバイスは、これから読み込むモデルに適用されます。メモリーの上限は Grus の再起動後に適用されます。</translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>バランス</translation>
    </message>
    <message>
        <source>Broad knowledge and quick answers: 3 of 35 billion parameters are active per token. For 32 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>幅広い知識と素早い回答。トークンあたり 350 億中 30 億のパラメーターが動作。32 GB 以上向け。</translation>
    </message>
    <message>
        <source>CUDA pack {version} is installed.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>CUDA パック {version} がインストールされています。</translation>
    </message>
    <message>
        <source>Calculator</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>計算機</translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>app/gui/chat/server_items.py, app/gui/models/remote_form.py, app/gui/read/pane.py, app/gui/settings/cuda_pack.py, app/gui/settings/pane.py, app/gui/settings/tools.py, app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Cancel editing</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>編集をキャンセル</translation>
    </message>
    <message>
        <source>Cancel reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>読み取りをキャンセル</translation>
    </message>
    <message>
        <source>Cancel the selected request</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>選択したリクエストをキャンセル</translation>
    </message>
    <message>
        <source>Caption</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>キャプション</translation>
    </message>
    <message>
        <source>Capture part of the screen</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>画面の一部を取り込む</translation>
    </message>
    <message>
        <source>Chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>章</translation>
    </message>
    <message>
        <source>Chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>グラフ</translation>
    </message>
    <message>
        <source>Chat</source>
        <extracomment>app/gui/chat/actions.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>チャット</translation>
    </message>
    <message>
        <source>Chat with this model</source>
        <extracomment>app/gui/models/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>このモデルでチャット</translation>
    </message>
    <message>
        <source>Chatterbox does not understand the instruction {words}. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox は指示 {words} を理解できません。{how}</translation>
    </message>
    <message>
        <source>Chatterbox has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox に声 {name} はありません。あるのは {voices} です。</translation>
    </message>
    <message>
        <source>Check for new versions of Grus when it starts?</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>起動時に Grus の新しいバージョンを確認しますか？</translation>
    </message>
    <message>
        <source>Check for new versions when Grus starts</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>起動時に新しいバージョンを確認する</translation>
    </message>
    <message>
        <source>Check now</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>今すぐ確認</translation>
    </message>
    <message>
        <source>Checking for a new version failed: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新しいバージョンの確認に失敗しました：{reason}。</translation>
    </message>
    <message>
        <source>Checking for a new version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>新しいバージョンを確認しています。</translation>
    </message>
    <message>
        <source>Checking the keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>キーリングを確認しています。</translation>
    </message>
    <message>
        <source>Checking this machine.</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>このコンピューターを確認しています。</translation>
    </message>
    <message>
        <source>Choose</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>選択</translation>
    </message>
    <message>
        <source>Choose a file</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>ファイルを選択</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <extracomment>app/gui/read/watch.py, app/gui/settings/speculation.py, app/gui/settings/tools.py</extracomment>
        <translation>フォルダーを選択</translation>
    </message>
    <message>
        <source>Choose a folder for downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ダウンロードしたモデルのフォルダーを選択</translation>
    </message>
    <message>
        <source>Choose a model first, in the menu above the conversation.</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>まず、会話の上にあるメニューでモデルを選んでください。</translation>
    </message>
    <message>
        <source>Choose a preset voice or a recording, not both.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>プリセットの声か録音のどちらか一方を選んでください。</translation>
    </message>
    <message>
        <source>Choose either a preset voice or a cloned one, not both.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py, engine/pipelines/speaking/spark.py</extracomment>
        <translation>プリセットの声かクローンした声のどちらか一方を選んでください。</translation>
    </message>
    <message>
        <source>Choose libraries…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>ライブラリを選択…</translation>
    </message>
    <message>
        <source>Choose the folder of a draft model</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>ドラフトモデルのフォルダーを選択</translation>
    </message>
    <message>
        <source>Choose the model</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>モデルを選択</translation>
    </message>
    <message>
        <source>Choose the reply to continue with.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>続ける返信を選択してください。</translation>
    </message>
    <message>
        <source>Choose tools…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>ツールを選択…</translation>
    </message>
    <message>
        <source>Clean up dictation</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>音声入力を整える</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/models/pane.py</extracomment>
        <translation>検索をクリア</translation>
    </message>
    <message>
        <source>Click to name the speaker.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>クリックして話者に名前を付けます。</translation>
    </message>
    <message>
        <source>Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>クリックして再生します。</translation>
    </message>
    <message>
        <source>Clones a voice from a recording of a few seconds.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>数秒の録音から声をクローンします。</translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>app/gui/chat/offer.py, app/gui/logview.py, app/gui/palette.py</extracomment>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Close the preview</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>プレビューを閉じる</translation>
    </message>
    <message>
        <source>Close the search</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>検索を閉じる</translation>
    </message>
    <message>
        <source>Close this message</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>このメッセージを閉じる</translation>
    </message>
    <message>
        <source>Close window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>ウインドウを閉じる</translation>
    </message>
    <message>
        <source>Code</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/preview_panel.py, app/gui/viewmodels/read.py</extracomment>
        <translation>コード</translation>
    </message>
    <message>
        <source>Code and long chains of tool calls: 3 of 30 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>コードと長いツール呼び出しの連鎖に。トークンあたり 300 億中 30 億のパラメーターが動作。32 GB 向け。</translation>
    </message>
    <message>
        <source>Colours</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>配色</translation>
    </message>
    <message>
        <source>Command or address</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>コマンドまたはアドレス</translation>
    </message>
    <message>
        <source>Command palette</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>コマンドパレット</translation>
    </message>
    <message>
        <source>Compare models</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>モデルを比較</translation>
    </message>
    <message>
        <source>Compute</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ハードウェア</translation>
    </message>
    <message>
        <source>Computes expressions.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>式を計算します。</translation>
    </message>
    <message>
        <source>Connect an agent</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>エージェントを接続</translation>
    </message>
    <message>
        <source>Connect from</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>接続元</translation>
    </message>
    <message>
        <source>Connect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} を接続</translation>
    </message>
    <message>
        <source>Context</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>コンテキスト</translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>続ける</translation>
    </message>
    <message>
        <source>Continue reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>読み取りを続ける</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>回答を続ける</translation>
    </message>
    <message>
        <source>Continue with the first reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>1 番目の返信で続ける</translation>
    </message>
    <message>
        <source>Continue with the second reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>2 番目の返信で続ける</translation>
    </message>
    <message>
        <source>Continue with the third reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>3 番目の返信で続ける</translation>
    </message>
    <message>
        <source>Continue with this</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>これで続ける</translation>
    </message>
    <message>
        <source>Conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/transcript.py</extracomment>
        <translation>会話</translation>
    </message>
    <message>
        <source>Conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>会話</translation>
    </message>
    <message>
        <source>Conversations, facts, results, voices and settings as one file. Server keys, the Hugging Face token and models stay here.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>会話、事実、結果、声、設定を 1 つのファイルにします。サーバーのキー、Hugging Face のトークン、モデルは含まれません。</translation>
    </message>
    <message>
        <source>Conversations, results and voices</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>会話、結果、声</translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py</extracomment>
        <translation>コピーしました。</translation>
    </message>
    <message>
        <source>Copy</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/dictation_key.py, app/gui/logview.py</extracomment>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Copy as spoken</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>話したとおりにコピー</translation>
    </message>
    <message>
        <source>Copy snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>スニペットをコピー</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <extracomment>app/gui/server/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>アドレスをコピー</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>コードをコピー</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>キーをコピー</translation>
    </message>
    <message>
        <source>Copy the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>最後のコードをコピー</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>メッセージをコピー</translation>
    </message>
    <message>
        <source>Copy the region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>領域をコピー</translation>
    </message>
    <message>
        <source>Copy the text</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>テキストをコピー</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>読み取れませんでした</translation>
    </message>
    <message>
        <source>Could not delete: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>削除できませんでした: {error}。</translation>
    </message>
    <message>
        <source>Could not save: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>保存できませんでした: {error}。</translation>
    </message>
    <message>
        <source>Create key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>キーを作成</translation>
    </message>
    <message>
        <source>Creates a voice from a description.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>説明から声を作ります。</translation>
    </message>
    <message>
        <source>Creative</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>創造的</translation>
    </message>
    <message>
        <source>Damaged: {files}. Delete {model} and download it again.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>破損しています: {files}。{model} を削除し、もう一度ダウンロードしてください。</translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ダーク</translation>
    </message>
    <message>
        <source>Date and time</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>日付と時刻</translation>
    </message>
    <message>
        <source>Default</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/speak/pane.py</extracomment>
        <translation>デフォルト</translation>
    </message>
    <message>
        <source>Default text size</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>標準の文字サイズ</translation>
    </message>
    <message>
        <source>Defaults of this model</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>このモデルのデフォルト</translation>
    </message>
    <message>
        <source>Delete</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>削除</translation>
    </message>
    <message>
        <source>Delete all</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>すべて削除</translation>
    </message>
    <message>
        <source>Delete all conversations, results, voices, files and settings of Grus? This cannot be undone.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus の会話、結果、声、ファイル、設定をすべて削除しますか？この操作は取り消せません。</translation>
    </message>
    <message>
        <source>Delete all now</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>今すぐすべて削除</translation>
    </message>
    <message>
        <source>Delete the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>会話を削除</translation>
    </message>
    <message>
        <source>Delete the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>キーを削除</translation>
    </message>
    <message>
        <source>Delete the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>メッセージを削除</translation>
    </message>
    <message>
        <source>Delete the model</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>モデルを削除</translation>
    </message>
    <message>
        <source>Delete the preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>プリセットを削除</translation>
    </message>
    <message>
        <source>Delete the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声を削除</translation>
    </message>
    <message>
        <source>Delete this fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>この事実を削除</translation>
    </message>
    <message>
        <source>Describe the voice: this VoiceDesign model makes one from instructions.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>声の説明を入力してください。この VoiceDesign モデルは指示から声を作ります。</translation>
    </message>
    <message>
        <source>Detect language</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>言語を検出</translation>
    </message>
    <message>
        <source>Device</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>デバイス</translation>
    </message>
    <message>
        <source>Dictate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>音声入力</translation>
    </message>
    <message>
        <source>Dictate and talk: a speech recognition model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>音声入力と音声会話: 音声認識モデル。</translation>
    </message>
    <message>
        <source>Dictating. Press again to stop.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>音声入力中です。もう一度押すと停止します。</translation>
    </message>
    <message>
        <source>Dictation</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>音声入力</translation>
    </message>
    <message>
        <source>Dictation into other apps needs a desktop. In a message, Ctrl+Shift+V dictates.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>ほかのアプリへの音声入力にはデスクトップ環境が必要です。メッセージでは Ctrl+Shift+V で音声入力できます。</translation>
    </message>
    <message>
        <source>Dictation key</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>音声入力キー</translation>
    </message>
    <message>
        <source>Discard</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>破棄</translation>
    </message>
    <message>
        <source>Disconnect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} の接続を解除</translation>
    </message>
    <message>
        <source>Disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ディスク</translation>
    </message>
    <message>
        <source>Document reading (OCR)</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>文書の読み取り（OCR）</translation>
    </message>
    <message>
        <source>Document search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>文書検索</translation>
    </message>
    <message>
        <source>Documents</source>
        <extracomment>app/gui/read/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>文書</translation>
    </message>
    <message>
        <source>Documents that could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>読み取れなかった書類</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>許可しない</translation>
    </message>
    <message>
        <source>Done</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>完了</translation>
    </message>
    <message>
        <source>Download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/settings/cuda_pack.py, app/gui/settings/updates.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>ダウンロード</translation>
    </message>
    <message>
        <source>Download a model first.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>先にモデルをダウンロードしてください。</translation>
    </message>
    <message>
        <source>Download, pause or resume</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>ダウンロード、一時停止、再開</translation>
    </message>
    <message>
        <source>Downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ダウンロードしたモデル</translation>
    </message>
    <message>
        <source>Downloading</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ダウンロード中</translation>
    </message>
    <message>
        <source>Downloading {model} from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{model} を Hugging Face からダウンロードしています。</translation>
    </message>
    <message>
        <source>Downloading {model}: {done} of {total}, about {left} s left.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>{model} をダウンロード中: {done} / {total}、残り約 {left} 秒。</translation>
    </message>
    <message>
        <source>Downloading: {done} of {total}</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py, app/gui/viewmodels/updates.py</extracomment>
        <translation>ダウンロード中：{total} 中 {done}</translation>
    </message>
    <message>
        <source>Draft model</source>
        <extracomment>app/gui/settings/speculation.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>ドラフトモデル</translation>
    </message>
    <message>
        <source>Draft tokens from</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>ドラフトトークンの生成元</translation>
    </message>
    <message>
        <source>Draw a box around the area to read. Press Esc to cancel.</source>
        <extracomment>app/gui/read/snip.py</extracomment>
        <translation>読み取る範囲を囲んでください。Esc キーでキャンセルします。</translation>
    </message>
    <message>
        <source>Drawn at {drawn} instead of {wanted} dots an inch, because the page is so large.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>ページが大きいため、{wanted} dpi ではなく {drawn} dpi で描画しました。</translation>
    </message>
    <message>
        <source>Drop a folder of documents here. It is read and searched on this machine, and Chat answers from it and says where.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>書類のフォルダをここにドロップしてください。このコンピューター上で読み取り、検索します。チャットはその内容から回答し、該当箇所を示します。</translation>
    </message>
    <message>
        <source>Drop a recording here, or record from the microphone and read along.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>録音をここにドロップするか、マイクで録音しながら文字で確認できます。</translation>
    </message>
    <message>
        <source>Drop documents, photos or scans here, paste an image, or capture part of the screen.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>文書、写真、スキャンをここにドロップするか、画像を貼り付けるか、画面の一部を取り込んでください。</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>複製</translation>
    </message>
    <message>
        <source>Duplicate the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>会話を複製</translation>
    </message>
    <message>
        <source>Each query goes to {address}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>各検索は {address} に送信されます。</translation>
    </message>
    <message>
        <source>Earlier</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>それ以前</translation>
    </message>
    <message>
        <source>Edit</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>編集</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>メッセージを編集</translation>
    </message>
    <message>
        <source>Editing a message. The original stays as another branch.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>メッセージを編集しています。元のメッセージは別のブランチに残ります。</translation>
    </message>
    <message>
        <source>Editing the reply.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>回答を編集しています。</translation>
    </message>
    <message>
        <source>Embedding</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>埋め込み</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s defaults.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>空欄の場合は、モデルのデフォルトが使われます。</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s own defaults. Settings of a conversation take precedence.</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>空欄の場合は、モデルのデフォルトが使われます。会話ごとの設定が優先されます。</translation>
    </message>
    <message>
        <source>End</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>終了</translation>
    </message>
    <message>
        <source>End Talk</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>音声会話を終了</translation>
    </message>
    <message>
        <source>End Talk (Esc)</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>音声会話を終了 (Esc)</translation>
    </message>
    <message>
        <source>Enter a command, such as npx -y @modelcontextprotocol/server-memory, or an address.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>npx -y @modelcontextprotocol/server-memory のようなコマンド、またはアドレスを入力してください。</translation>
    </message>
    <message>
        <source>Enter a share like 70 %, or a size like 12 GB.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>70 % のような割合か、12 GB のようなサイズを入力してください。</translation>
    </message>
    <message>
        <source>Enter the name of a model, or choose a folder. Until then nothing is drafted.</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>モデル名を入力するか、フォルダーを選択してください。それまではドラフトは作成されません。</translation>
    </message>
    <message>
        <source>Enter tool result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>ツールの結果を入力</translation>
    </message>
    <message>
        <source>Errors and crashes of Grus on this machine. The log contains nothing that you write, say or read, and is never sent anywhere.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>このコンピューターでの Grus のエラーとクラッシュです。ログには、あなたが書いた、話した、または読んだ内容は含まれず、どこにも送信されません。</translation>
    </message>
    <message>
        <source>Errors and crashes, stored on this machine. Export the log to get help.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>このコンピューターに保存されたエラーとクラッシュです。サポートを受けるにはログを書き出してください。</translation>
    </message>
    <message>
        <source>Even broader knowledge and quick answers: 3 of 80 billion parameters are active per token. For 80 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>さらに幅広い知識と素早い回答。トークンあたり 800 億中 30 億のパラメーターが動作。80 GB 以上向け。</translation>
    </message>
    <message>
        <source>Everyday questions in more than 100 languages, for machines with 8 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>100 以上の言語で日常の質問に対応。8 GB のコンピューター向け。</translation>
    </message>
    <message>
        <source>Everything</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>すべて</translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>すべて保存されました。</translation>
    </message>
    <message>
        <source>Everything stays on this machine</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>すべてこのコンピューター内に保たれます</translation>
    </message>
    <message>
        <source>Everything was deleted. Models are still on this machine.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>すべて削除しました。モデルはこのコンピューターに残っています。</translation>
    </message>
    <message>
        <source>Export</source>
        <extracomment>app/gui/chat/actions.py, app/gui/listen/pane.py, app/gui/logview.py, app/gui/read/pane.py</extracomment>
        <translation>書き出す</translation>
    </message>
    <message>
        <source>Export all</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>すべて書き出す</translation>
    </message>
    <message>
        <source>Export all conversations</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>すべての会話を書き出す</translation>
    </message>
    <message>
        <source>Export and import</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>書き出しと読み込み</translation>
    </message>
    <message>
        <source>Export as</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>形式を選んで書き出す</translation>
    </message>
    <message>
        <source>Export as JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>JSON で書き出す</translation>
    </message>
    <message>
        <source>Export as Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Markdown で書き出す</translation>
    </message>
    <message>
        <source>Export as PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>PDF で書き出す</translation>
    </message>
    <message>
        <source>Export everything</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>すべて書き出す</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>会話を書き出す</translation>
    </message>
    <message>
        <source>Export the log</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>ログを書き出す</translation>
    </message>
    <message>
        <source>Fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>事実</translation>
    </message>
    <message>
        <source>Fact memory</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>事実のメモリ</translation>
    </message>
    <message>
        <source>Female voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>女性の声</translation>
    </message>
    <message>
        <source>File reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>ファイルリーダー</translation>
    </message>
    <message>
        <source>Files</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>Filter this list</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>リストを絞り込む</translation>
    </message>
    <message>
        <source>Find</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>検索</translation>
    </message>
    <message>
        <source>Find an action, a conversation or a model</source>
        <extracomment>app/gui/palette.py</extracomment>
        <translation>操作、会話、モデルを検索</translation>
    </message>
    <message>
        <source>Find and replace</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>検索と置換</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/find_bar.py</extracomment>
        <translation>この会話内を検索</translation>
    </message>
    <message>
        <source>Finds passages of a library by their meaning, in more than 100 languages and in code.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>ライブラリの文章を意味で探します。100 以上の言語とコードに対応します。</translation>
    </message>
    <message>
        <source>Finishing running requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>処理中のリクエストを完了しています</translation>
    </message>
    <message>
        <source>Fit width</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>幅に合わせる</translation>
    </message>
    <message>
        <source>Fits this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>このコンピューターで動作します: {has} のうち約 {needed} が必要です。</translation>
    </message>
    <message>
        <source>Folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>フォルダー</translation>
    </message>
    <message>
        <source>Footer</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>フッター</translation>
    </message>
    <message>
        <source>Footnote</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>脚注</translation>
    </message>
    <message>
        <source>For all models together, as a share or a size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>全モデルの合計。割合またはサイズで指定します。</translation>
    </message>
    <message>
        <source>For gated models. It is sent only to Hugging Face.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>アクセス制限のあるモデル用です。Hugging Face にのみ送信されます。</translation>
    </message>
    <message>
        <source>For the hardest questions: 5 of 117 billion parameters are active per token. For 96 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>最も難しい質問に。トークンあたり 1170 億中 50 億のパラメーターが動作。96 GB 以上向け。</translation>
    </message>
    <message>
        <source>Forget the voice of {name}</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>{name} の声を消去</translation>
    </message>
    <message>
        <source>Format</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>形式</translation>
    </message>
    <message>
        <source>Formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>数式</translation>
    </message>
    <message>
        <source>From another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>別のコンピューターから</translation>
    </message>
    <message>
        <source>From disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ディスクから</translation>
    </message>
    <message>
        <source>From the tool. Not checked, and no instruction:</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>ツールからの内容です。未確認であり、指示ではありません:</translation>
    </message>
    <message>
        <source>Full screen</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>フルスクリーン</translation>
    </message>
    <message>
        <source>Get a model</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>モデルを入手</translation>
    </message>
    <message>
        <source>Get a model…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>モデルを入手…</translation>
    </message>
    <message>
        <source>Get a real model: {model}, {facts}.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>本格的なモデルを入手: {model}、{facts}。</translation>
    </message>
    <message>
        <source>Get a vision model</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>画像対応モデルを入手</translation>
    </message>
    <message>
        <source>Getting sizes from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Hugging Face からサイズを取得しています。</translation>
    </message>
    <message>
        <source>Getting the list of files from Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Hugging Face からファイルの一覧を取得しています</translation>
    </message>
    <message>
        <source>Global shortcut</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>グローバルショートカット</translation>
    </message>
    <message>
        <source>Go to the message field</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>メッセージ欄に移動</translation>
    </message>
    <message>
        <source>Good at text, code and tools with little memory. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>少ないメモリーで文章、コード、ツールが得意。思考はオンとオフを選べます。</translation>
    </message>
    <message>
        <source>Grus cannot save: {reason}. Your changes are kept in memory until it can.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>保存できません: {reason}。保存できるようになるまで、変更はメモリーに保持されます。</translation>
    </message>
    <message>
        <source>Grus computes on the CPU. To compute on the NVIDIA GPU, it needs the CUDA pack: a download of {size}.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Grus は CPU で計算しています。NVIDIA GPU で計算するには CUDA パック（{size} のダウンロード）が必要です。</translation>
    </message>
    <message>
        <source>Grus does not look for a new version: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Grus は新しいバージョンを確認しません：{reason}。</translation>
    </message>
    <message>
        <source>Grus does not support the architecture of this model.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Grus はこのモデルのアーキテクチャに対応していません。</translation>
    </message>
    <message>
        <source>Grus ended unexpectedly last time. Nothing was deleted.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>前回、Grus は予期せず終了しました。何も削除されていません。</translation>
    </message>
    <message>
        <source>Grus has no accounts and sends nothing on its own. All of this is stored only on this machine.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus にはアカウントがなく、自動的に何かを送信することもありません。これらはすべて、このコンピューターにのみ保存されています。</translation>
    </message>
    <message>
        <source>Grus listens again when it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>話し終わると、Grus は再び聞き取りを始めます。</translation>
    </message>
    <message>
        <source>Grus never changes files in these folders.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>これらのフォルダー内のファイルが変更されることはありません。</translation>
    </message>
    <message>
        <source>Grus was started with --offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>Grus は --offline で起動されました</translation>
    </message>
    <message>
        <source>Grus was told to work offline</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Grus はオフラインで動作する設定です</translation>
    </message>
    <message>
        <source>Grus {version} is available.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} が利用できます。</translation>
    </message>
    <message>
        <source>Grus {version} is the newest version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} は最新バージョンです。</translation>
    </message>
    <message>
        <source>HTML</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>HTML</translation>
    </message>
    <message>
        <source>Have replies and texts read aloud: a text-to-speech model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>回答やテキストの読み上げ: 音声合成モデル。</translation>
    </message>
    <message>
        <source>Header</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>ヘッダー</translation>
    </message>
    <message>
        <source>Heading</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>見出し</translation>
    </message>
    <message>
        <source>Headphones</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>ヘッドフォン</translation>
    </message>
    <message>
        <source>Hide reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>思考を隠す</translation>
    </message>
    <message>
        <source>Hide the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>呼び出しを隠す</translation>
    </message>
    <message>
        <source>Hide tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>ツールを隠す</translation>
    </message>
    <message>
        <source>High</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>高</translation>
    </message>
    <message>
        <source>High contrast</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ハイコントラスト</translation>
    </message>
    <message>
        <source>History</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>履歴</translation>
    </message>
    <message>
        <source>Hold it, speak, and let it go: the text appears at the cursor, in any app. Clear the field for none.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>押したまま話して離すと、どのアプリでもカーソル位置に文字が入ります。使わない場合は欄を空にします。</translation>
    </message>
    <message>
        <source>How many threads of the CPU compute without mains power. Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>電源につながっていないときに計算に使う CPU のスレッド数です。Grus の再起動後に反映されます。</translation>
    </message>
    <message>
        <source>How many times a text model is loaded, on a device each, for many requests at once. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>多数の要求を同時に処理するために、テキストモデルをデバイスごとに読み込む数。これから読み込むモデルに適用されます。</translation>
    </message>
    <message>
        <source>How much of the disk may hold weights that were prepared for this CPU. Such a model opens at once the next time.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>この CPU 用に準備された重みがディスクを使える量です。そのようなモデルは次回からすぐに開きます。</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>Hugging Face answered with status {status}. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face がステータス {status} を返しました。後でもう一度お試しください。</translation>
    </message>
    <message>
        <source>Hugging Face cannot be reached. Check the network, then try again.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Hugging Face に接続できません。ネットワークを確認して、もう一度お試しください。</translation>
    </message>
    <message>
        <source>Hugging Face does not know your token (status 401). Make a new one on its page, then {advice}. `grus token remove` continues without one.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face がトークンを認識できません（ステータス 401）。Hugging Face で新しいトークンを作成し、{advice}。`grus token remove` でトークンなしで続行できます。</translation>
    </message>
    <message>
        <source>Hugging Face has no repository {repo}, or it is private. For a private one, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face にリポジトリ {repo} がないか、非公開です。非公開の場合は、{advice}。</translation>
    </message>
    <message>
        <source>Hugging Face is not asked: {why}.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Hugging Face には問い合わせません: {why}。</translation>
    </message>
    <message>
        <source>Hugging Face refused access to {repo} (status {status}). To be let in, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face が {repo} へのアクセスを拒否しました（ステータス {status}）。アクセスするには、{advice}。</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in some minutes.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face がこれ以上のリクエストを受け付けていません（ステータス 429）。数分後にもう一度お試しください。</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in {n} s.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face がこれ以上のリクエストを受け付けていません（ステータス 429）。{n} 秒後にもう一度お試しください。</translation>
    </message>
    <message>
        <source>Hugging Face token</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Hugging Face トークン</translation>
    </message>
    <message>
        <source>Import an archive</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>アーカイブを読み込む</translation>
    </message>
    <message>
        <source>Import conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>会話を読み込む</translation>
    </message>
    <message>
        <source>Imported</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>読み込んだ会話</translation>
    </message>
    <message>
        <source>Importing: {done} of {total} conversations.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>インポート中: {total} 件中 {done} 件の会話。</translation>
    </message>
    <message>
        <source>In addition to the system&apos;s text size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>システムの文字サイズに加えて適用されます。</translation>
    </message>
    <message>
        <source>In memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>メモリー内</translation>
    </message>
    <message>
        <source>In tokens. At this limit the model stops reasoning and answers.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>トークン数。上限に達すると、思考をやめて回答します。</translation>
    </message>
    <message>
        <source>In tokens. Empty: up to the context length.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>トークン数。空欄の場合はコンテキスト長まで。</translation>
    </message>
    <message>
        <source>Included with Grus</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Grus に付属</translation>
    </message>
    <message>
        <source>Incomplete</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>不完全</translation>
    </message>
    <message>
        <source>Install</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>インストール</translation>
    </message>
    <message>
        <source>Install and restart</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>インストールして再起動</translation>
    </message>
    <message>
        <source>Install it as you installed Grus, for example: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus をインストールしたときと同じ方法でインストールしてください。例：{command}</translation>
    </message>
    <message>
        <source>Instructions</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pane.py</extracomment>
        <translation>指示</translation>
    </message>
    <message>
        <source>Interrupt</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>中断</translation>
    </message>
    <message>
        <source>Interrupt the voice</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>音声を中断</translation>
    </message>
    <message>
        <source>It does not contain server keys, the Hugging Face token or models.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>サーバーのキー、Hugging Face のトークン、モデルは含まれていません。</translation>
    </message>
    <message>
        <source>It has changed since you allowed it.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>許可した後に変更されています。</translation>
    </message>
    <message>
        <source>It is not clear which way up this page is. Turn it if the text makes no sense.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>このページの向きがはっきりしません。テキストが意味をなさない場合は回転してください。</translation>
    </message>
    <message>
        <source>JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>JSON</translation>
    </message>
    <message>
        <source>Jump to the latest message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>最新のメッセージへ移動</translation>
    </message>
    <message>
        <source>Jump to the latest message (Ctrl+End)</source>
        <extracomment>app/gui/chat/transcript.py</extracomment>
        <translation>最新のメッセージへ移動 (Ctrl+End)</translation>
    </message>
    <message>
        <source>Key</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>キー</translation>
    </message>
    <message>
        <source>Key, if it needs one</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>キー（必要な場合）</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <extracomment>app/gui/palette.py, app/gui/window.py</extracomment>
        <translation>キーボードショートカット</translation>
    </message>
    <message>
        <source>Keys</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>キー</translation>
    </message>
    <message>
        <source>Known voices</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>登録済みの声</translation>
    </message>
    <message>
        <source>Knows more than its speed suggests: 1.5 of 8 billion parameters are active per token. For 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>速さから想像する以上の知識。トークンあたり 80 億中 15 億のパラメーターが動作。16 GB 向け。</translation>
    </message>
    <message>
        <source>Knows the voices that you named in the next recording, beside a model that tells speakers apart.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>話者を区別するモデルと一緒に使い、名前を付けた声を次の録音で認識します。</translation>
    </message>
    <message>
        <source>Kokoro does not speak {language} here. It speaks: {known}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro はここでは {language} を話せません。話せる言語: {known}。</translation>
    </message>
    <message>
        <source>Kokoro has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro に声 {name} はありません。使える声: {voices}。</translation>
    </message>
    <message>
        <source>Kokoro has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro は独自の声を使い、クローンには対応していません。クローンするには Qwen3-TTS Base モデルを選んでください。</translation>
    </message>
    <message>
        <source>Kokoro needs the program espeak-ng, which tells how words are pronounced. Install it (Debian: apt install espeak-ng, macOS: brew install espeak-ng), or choose another voice.</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>Kokoro には、単語の発音を調べるプログラム espeak-ng が必要です。インストールするか（Debian: apt install espeak-ng、macOS: brew install espeak-ng）、別の声を選んでください。</translation>
    </message>
    <message>
        <source>Kokoro takes no instructions. Its voices differ in tone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro には指示を与えられません。声によって口調が異なります。</translation>
    </message>
    <message>
        <source>Language</source>
        <extracomment>app/gui/settings/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>言語</translation>
    </message>
    <message>
        <source>Larger text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>文字を大きく</translation>
    </message>
    <message>
        <source>Leave empty if the server needs none</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>サーバーが不要なら空のままにします</translation>
    </message>
    <message>
        <source>Leave out tokens less likely than this share of the most likely one.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>最も確率の高いトークンに対し、この割合より低いトークンを除外します。</translation>
    </message>
    <message>
        <source>Left out, because they are malformed: {names}.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>形式に誤りがあるため除外しました: {names}。</translation>
    </message>
    <message>
        <source>Level</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>レベル</translation>
    </message>
    <message>
        <source>Libraries</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/libraries/pane.py, app/gui/pane.py</extracomment>
        <translation>ライブラリ</translation>
    </message>
    <message>
        <source>Licence</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ライセンス</translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ライト</translation>
    </message>
    <message>
        <source>Line {number} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{number} 行目が「単語 = 読み方」の形ではありません。</translation>
    </message>
    <message>
        <source>Line {number} of {path} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{path} の {number} 行目は「語 = 読み」の形ではありません。</translation>
    </message>
    <message>
        <source>List</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>リスト</translation>
    </message>
    <message>
        <source>Listen</source>
        <extracomment>app/gui/listen/pane.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>聞き取り</translation>
    </message>
    <message>
        <source>Listening</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/listen.py</extracomment>
        <translation>聞き取り中</translation>
    </message>
    <message>
        <source>Load</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>読み込む</translation>
    </message>
    <message>
        <source>Load or unload</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>読み込みまたは解放</translation>
    </message>
    <message>
        <source>Loading models</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>モデルを読み込み中</translation>
    </message>
    <message>
        <source>Loading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py, app/window_engine.py, app/window_reply.py</extracomment>
        <translation>{model} を読み込んでいます。</translation>
    </message>
    <message>
        <source>Location</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>場所</translation>
    </message>
    <message>
        <source>Log</source>
        <extracomment>app/gui/logview.py, app/gui/server/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>ログ</translation>
    </message>
    <message>
        <source>Long texts, tools and code, for machines with 16 to 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>長文、ツール、コードに。16～24 GB のコンピューター向け。</translation>
    </message>
    <message>
        <source>Looking for documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>書類を探しています</translation>
    </message>
    <message>
        <source>Looking for models on this machine.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>このコンピューターのモデルを探しています。</translation>
    </message>
    <message>
        <source>Low</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>低</translation>
    </message>
    <message>
        <source>Low confidence. Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>信頼度が低い箇所です。クリックして再生します。</translation>
    </message>
    <message>
        <source>Low confidence: {why}</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>信頼度が低い: {why}</translation>
    </message>
    <message>
        <source>Make an audiobook</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>オーディオブックを作成</translation>
    </message>
    <message>
        <source>Male voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>男性の声</translation>
    </message>
    <message>
        <source>Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>Match case</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>大文字と小文字を区別</translation>
    </message>
    <message>
        <source>Maximum length</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>最大長</translation>
    </message>
    <message>
        <source>Medium</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>中</translation>
    </message>
    <message>
        <source>Memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>メモリー</translation>
    </message>
    <message>
        <source>Memory</source>
        <comment>facts</comment>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>メモリ（事実）</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>メモリーの上限</translation>
    </message>
    <message>
        <source>Merge with the next segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>次のセグメントと結合</translation>
    </message>
    <message>
        <source>Message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>メッセージ</translation>
    </message>
    <message>
        <source>Min P</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Min P</translation>
    </message>
    <message>
        <source>Model</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/model_box.py, app/gui/models/remote_form.py, app/gui/server/pane.py</extracomment>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Model folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>モデルのフォルダー</translation>
    </message>
    <message>
        <source>Model for this conversation</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>この会話のモデル</translation>
    </message>
    <message>
        <source>Model lists</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>モデルのリスト</translation>
    </message>
    <message>
        <source>Model to use</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>使用するモデル</translation>
    </message>
    <message>
        <source>Models</source>
        <extracomment>app/gui/models/pane.py, app/gui/pane.py</extracomment>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Models on this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>このコンピューターのモデル</translation>
    </message>
    <message>
        <source>Models run on {backend}, {device}, and may use {allowed} of {memory}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>モデルは {backend}、{device} で動作し、{memory} のうち {allowed} まで使用できます。</translation>
    </message>
    <message>
        <source>Models, shared with other programs</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>モデル（ほかのプログラムと共有）</translation>
    </message>
    <message>
        <source>Move to</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>移動先</translation>
    </message>
    <message>
        <source>Multi-token prediction (MTP)</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>マルチトークン予測 (MTP)</translation>
    </message>
    <message>
        <source>N-grams of the conversation</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>会話の n-gram</translation>
    </message>
    <message>
        <source>NVIDIA GPU</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>NVIDIA GPU</translation>
    </message>
    <message>
        <source>Name</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/models/remote_form.py, app/gui/settings/tools.py</extracomment>
        <translation>名前</translation>
    </message>
    <message>
        <source>Name of the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声の名前</translation>
    </message>
    <message>
        <source>Name to save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>プリセットとして保存する名前</translation>
    </message>
    <message>
        <source>Names and terms, separated by commas. Listen, Talk and dictation spell them like this.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>名前や用語をコンマで区切って入力します。聞き取り、音声会話、音声入力でこのとおりに表記されます。</translation>
    </message>
    <message>
        <source>Needs about {needed} of {has}. Its experts can stay in the file: replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{has} のうち約 {needed} が必要です。エキスパートはファイルに残せますが、返答の速さはディスク次第です。</translation>
    </message>
    <message>
        <source>Needs about {needed}; models may use {has}. Raise the memory limit in Settings.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>約 {needed} 必要ですが、モデルが使えるのは {has} です。「設定」でメモリーの上限を上げてください。</translation>
    </message>
    <message>
        <source>Network</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ネットワーク</translation>
    </message>
    <message>
        <source>Never</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>しない</translation>
    </message>
    <message>
        <source>Never allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>常に許可しない</translation>
    </message>
    <message>
        <source>New conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py, app/gui/chat/pane.py</extracomment>
        <translation>新しい会話</translation>
    </message>
    <message>
        <source>New conversation in this project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>このプロジェクトで新しい会話</translation>
    </message>
    <message>
        <source>New line</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>改行</translation>
    </message>
    <message>
        <source>New project</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/projects.py</extracomment>
        <translation>新規プロジェクト</translation>
    </message>
    <message>
        <source>New project…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>新規プロジェクト…</translation>
    </message>
    <message>
        <source>New voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>新しい声</translation>
    </message>
    <message>
        <source>Next branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>次のブランチ</translation>
    </message>
    <message>
        <source>Next conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>次の会話</translation>
    </message>
    <message>
        <source>Next document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>次の文書</translation>
    </message>
    <message>
        <source>Next library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>次のライブラリ</translation>
    </message>
    <message>
        <source>Next match (Enter)</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>次の一致 (Enter)</translation>
    </message>
    <message>
        <source>Next message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>次のメッセージ</translation>
    </message>
    <message>
        <source>Next page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>次のページ</translation>
    </message>
    <message>
        <source>Next recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>次の録音</translation>
    </message>
    <message>
        <source>Next region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>次の領域</translation>
    </message>
    <message>
        <source>Next version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>次のバージョン</translation>
    </message>
    <message>
        <source>Next version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>プレビューの次のバージョン</translation>
    </message>
    <message>
        <source>No active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>処理中のリクエストはありません。</translation>
    </message>
    <message>
        <source>No errors so far.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>これまでにエラーはありません。</translation>
    </message>
    <message>
        <source>No loudspeaker was found. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>スピーカーが見つかりません。接続してから、もう一度再生してください。</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>マイクが見つかりません。接続してから、もう一度お試しください。</translation>
    </message>
    <message>
        <source>No model is loaded. Grus uses {whole}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>読み込み済みのモデルはありません。Grus のメモリー使用量は {whole} です。</translation>
    </message>
    <message>
        <source>No model that reads images is installed. Download one in Models, for example PaddlePaddle/PaddleOCR-VL.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>画像を読み取るモデルがインストールされていません。「モデル」で PaddlePaddle/PaddleOCR-VL などをダウンロードしてください。</translation>
    </message>
    <message>
        <source>No model that tells speakers apart is installed. Download one in Models, for example mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>話者を区別するモデルがインストールされていません。「モデル」でダウンロードしてください（例：mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32）。</translation>
    </message>
    <message>
        <source>No model yet</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>モデルがありません</translation>
    </message>
    <message>
        <source>No model yet. Recommended lists some that fit.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>モデルがまだありません。「おすすめ」に動作するものがあります。</translation>
    </message>
    <message>
        <source>No places were found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>モデルの出力に位置情報が見つかりませんでした。</translation>
    </message>
    <message>
        <source>No project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>プロジェクトなし</translation>
    </message>
    <message>
        <source>No results for {words} on Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Hugging Face に「{words}」の検索結果はありません。</translation>
    </message>
    <message>
        <source>No results for {words}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>{words} に一致する結果はありません。</translation>
    </message>
    <message>
        <source>No results.</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/palette.py, app/gui/viewmodels/chat/find.py</extracomment>
        <translation>結果はありません。</translation>
    </message>
    <message>
        <source>No search and no downloads, and the server does not fetch images. Models on this machine keep working.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>検索とダウンロードを行わず、サーバーも画像を取得しません。このコンピューターのモデルは引き続き使えます。</translation>
    </message>
    <message>
        <source>No shortcut</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>ショートカットなし</translation>
    </message>
    <message>
        <source>No speech recognition model is installed. Download one in Models, for example UsefulSensors/moonshine-base.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>音声認識モデルがインストールされていません。「モデル」で UsefulSensors/moonshine-base などをダウンロードしてください。</translation>
    </message>
    <message>
        <source>No table was found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>モデルの出力に表が見つかりませんでした。</translation>
    </message>
    <message>
        <source>No table was found in {title}. Choose another format.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{title} に表が見つかりません。別の形式を選んでください。</translation>
    </message>
    <message>
        <source>No text was found in {name}.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>{name} に文字が見つかりませんでした。</translation>
    </message>
    <message>
        <source>No text-to-speech model is installed. Download one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>音声合成モデルがインストールされていません。「モデル」で Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice などをダウンロードしてください。</translation>
    </message>
    <message>
        <source>No tool server that is on has a prompt.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>有効なツールサーバーにプロンプトはありません。</translation>
    </message>
    <message>
        <source>No tool server that is on has a resource.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>有効なツールサーバーにリソースはありません。</translation>
    </message>
    <message>
        <source>No voice yet</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声がありません</translation>
    </message>
    <message>
        <source>None. For example https://app.example</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>なし。例: https://app.example</translation>
    </message>
    <message>
        <source>Not complete</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>未完了</translation>
    </message>
    <message>
        <source>Not now</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>後で</translation>
    </message>
    <message>
        <source>Not stated. Check with the publisher before you use it.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>記載がありません。使用前に公開元に確認してください。</translation>
    </message>
    <message>
        <source>Nothing</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>なし</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>何も見つかりませんでした。</translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/server/pane.py, app/gui/viewmodels/read_watch.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>オフ</translation>
    </message>
    <message>
        <source>OmniVoice has no voices by name: describe one, or clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py</extracomment>
        <translation>OmniVoice には名前の付いた声がありません。声を説明するか、録音から複製してください。</translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>オン</translation>
    </message>
    <message>
        <source>On disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ディスク上</translation>
    </message>
    <message>
        <source>On other machines</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ほかのコンピューター</translation>
    </message>
    <message>
        <source>On this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>このコンピューター</translation>
    </message>
    <message>
        <source>Once a day at most. Only the version of this Grus is sent.</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>多くても 1 日に 1 回です。送信されるのはこの Grus のバージョンだけです。</translation>
    </message>
    <message>
        <source>One chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>グラフのみ</translation>
    </message>
    <message>
        <source>One file per chapter</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>章ごとに 1 ファイル</translation>
    </message>
    <message>
        <source>One formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>数式のみ</translation>
    </message>
    <message>
        <source>One line per request, without its content.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>リクエストごとに 1 行。内容は記録しません。</translation>
    </message>
    <message>
        <source>One moment. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>お待ちください。Esc キーで終了します。</translation>
    </message>
    <message>
        <source>One seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>印影のみ</translation>
    </message>
    <message>
        <source>One table</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>表のみ</translation>
    </message>
    <message>
        <source>Only PDFs and images become a searchable PDF. Choose another format.</source>
        <extracomment>engine/pipelines/reading/writers.py</extracomment>
        <translation>検索可能な PDF にできるのは PDF と画像だけです。別の形式を選んでください。</translation>
    </message>
    <message>
        <source>Only if the server does not list it</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>サーバーが一覧に出さない場合のみ</translation>
    </message>
    <message>
        <source>Only the first {rows} rows are read.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>最初の {rows} 行だけを読み取ります。</translation>
    </message>
    <message>
        <source>Only {free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>空きは {free} しかありません。</translation>
    </message>
    <message>
        <source>Open</source>
        <extracomment>app/gui/pane.py</extracomment>
        <translation>開く</translation>
    </message>
    <message>
        <source>Open at login</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>ログイン時に開く</translation>
    </message>
    <message>
        <source>Open in the browser</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>ブラウザーで開く</translation>
    </message>
    <message>
        <source>Open link</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>リンクを開く</translation>
    </message>
    <message>
        <source>Open text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>テキストを開く</translation>
    </message>
    <message>
        <source>Open the browser</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>ブラウザーを開く</translation>
    </message>
    <message>
        <source>Open the conversation: {title}</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>会話を開く: {title}</translation>
    </message>
    <message>
        <source>Opening</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>開いています</translation>
    </message>
    <message>
        <source>Or paste the JSON of Claude Desktop, Cursor, LM Studio or VS Code</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>または Claude Desktop、Cursor、LM Studio、VS Code の JSON を貼り付け</translation>
    </message>
    <message>
        <source>Orpheus has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus に声 {name} はありません。使える声: {voices}。</translation>
    </message>
    <message>
        <source>Orpheus has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus は独自の声を使い、クローンには対応していません。クローンするには Qwen3-TTS Base モデルを選んでください。</translation>
    </message>
    <message>
        <source>Orpheus speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus が話せるのは英語です（{language} は話せません）。</translation>
    </message>
    <message>
        <source>Orpheus takes no instructions; it supports tags in the text: {tags}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus は指示に対応していません。テキスト中のタグを使えます: {tags}。</translation>
    </message>
    <message>
        <source>Other data</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>その他のデータ</translation>
    </message>
    <message>
        <source>Other machines can reach the server on port {port}, with a key.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>ほかのコンピューターは、キーを使ってポート {port} のサーバーに接続できます。</translation>
    </message>
    <message>
        <source>Other machines may only connect with a key. Create one first.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>ほかのコンピューターからの接続にはキーが必要です。先にキーを作成してください。</translation>
    </message>
    <message>
        <source>Other machines too</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>ほかのコンピューターも</translation>
    </message>
    <message>
        <source>Other models</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>ほかのモデル</translation>
    </message>
    <message>
        <source>Output</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>出力</translation>
    </message>
    <message>
        <source>Own words</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>自分の単語</translation>
    </message>
    <message>
        <source>Own words are at most {most}, of {longest} characters each.</source>
        <extracomment>engine/pipelines/listening/glossary.py</extracomment>
        <translation>自分の単語は最大 {most} 個、それぞれ {longest} 文字までです。</translation>
    </message>
    <message>
        <source>PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Pace</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>話す速さ</translation>
    </message>
    <message>
        <source>Packed weights</source>
        <extracomment>app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>パック済みの重み</translation>
    </message>
    <message>
        <source>Page number</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>ページ番号</translation>
    </message>
    <message>
        <source>Page {number} of the PDF cannot be drawn.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>PDF の {number} ページを描画できません。</translation>
    </message>
    <message>
        <source>Page {number} of the PDF is damaged.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>PDF の {number} ページが破損しています。</translation>
    </message>
    <message>
        <source>Page {n} of {total}</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>{n} / {total} ページ</translation>
    </message>
    <message>
        <source>Pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>ページ</translation>
    </message>
    <message>
        <source>Pages are named like 1-3,5 or 7-, not {text}.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>ページは 1-3,5 や 7- のように指定してください（{text} は使えません）。</translation>
    </message>
    <message>
        <source>Pages, such as 1-3,5 or 7-</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>ページ（例: 1-3,5 や 7-）</translation>
    </message>
    <message>
        <source>Panes</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>ペイン</translation>
    </message>
    <message>
        <source>Passages</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>該当箇所</translation>
    </message>
    <message>
        <source>Password</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>パスワード</translation>
    </message>
    <message>
        <source>Password-protected</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>パスワードで保護されています</translation>
    </message>
    <message>
        <source>Paste image</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>画像を貼り付け</translation>
    </message>
    <message>
        <source>Paste it, and press Enter</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>貼り付けて Enter キーを押す</translation>
    </message>
    <message>
        <source>Paste your Hugging Face token, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face のトークンを貼り付けて Enter キーを押す</translation>
    </message>
    <message>
        <source>Pasted picture</source>
        <extracomment>app/gui/chat/composer.py, app/gui/read/pane.py</extracomment>
        <translation>貼り付けた画像</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>貼り付けたテキスト</translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>一時停止</translation>
    </message>
    <message>
        <source>Pause or resume</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>一時停止または再開</translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>一時停止中</translation>
    </message>
    <message>
        <source>Paused after {done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>{total} 個中 {done} 個のファイルで一時停止中</translation>
    </message>
    <message>
        <source>Paused at {how_far}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>一時停止中: {how_far}</translation>
    </message>
    <message>
        <source>Permission of {tool}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{tool} の許可</translation>
    </message>
    <message>
        <source>Picture</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/read.py</extracomment>
        <translation>画像</translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>ピン留め</translation>
    </message>
    <message>
        <source>Pin or unpin the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>会話のピン留めを切り替え</translation>
    </message>
    <message>
        <source>Pinned</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>ピン留め</translation>
    </message>
    <message>
        <source>Pitch</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声の高さ</translation>
    </message>
    <message>
        <source>Play</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>再生</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>再生または一時停止</translation>
    </message>
    <message>
        <source>Play segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>セグメントを再生</translation>
    </message>
    <message>
        <source>Play the voice sample</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声のサンプルを再生</translation>
    </message>
    <message>
        <source>Pocket-TTS takes no instructions. Its voices are recordings.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Pocket-TTS は指示を受け付けません。声は録音です。</translation>
    </message>
    <message>
        <source>Port</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>ポート</translation>
    </message>
    <message>
        <source>Precise</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>正確</translation>
    </message>
    <message>
        <source>Preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>プリセット</translation>
    </message>
    <message>
        <source>Press Enter, then the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Enter キー、次にキー</translation>
    </message>
    <message>
        <source>Press the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>キーを押してください</translation>
    </message>
    <message>
        <source>Preview</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>プレビュー</translation>
    </message>
    <message>
        <source>Preview the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>最後のコードをプレビュー</translation>
    </message>
    <message>
        <source>Previous branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>前のブランチ</translation>
    </message>
    <message>
        <source>Previous conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>前の会話</translation>
    </message>
    <message>
        <source>Previous document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>前の文書</translation>
    </message>
    <message>
        <source>Previous library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>前のライブラリ</translation>
    </message>
    <message>
        <source>Previous match (Shift+Enter)</source>
        <extracomment>app/gui/chat/find_bar.py</extracomment>
        <translation>前の一致 (Shift+Enter)</translation>
    </message>
    <message>
        <source>Previous message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>前のメッセージ</translation>
    </message>
    <message>
        <source>Previous page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>前のページ</translation>
    </message>
    <message>
        <source>Previous recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>前の録音</translation>
    </message>
    <message>
        <source>Previous region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>前の領域</translation>
    </message>
    <message>
        <source>Previous version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>前のバージョン</translation>
    </message>
    <message>
        <source>Previous version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>プレビューの前のバージョン</translation>
    </message>
    <message>
        <source>Privacy</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>プライバシー</translation>
    </message>
    <message>
        <source>Programs must send one of these keys. Without keys, every program on this machine can connect.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>プログラムは、次のキーのいずれかを送る必要があります。キーがない場合、このコンピューターのすべてのプログラムが接続できます。</translation>
    </message>
    <message>
        <source>Progress of the download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/models/pane.py</extracomment>
        <translation>ダウンロードの進行状況</translation>
    </message>
    <message>
        <source>Project settings</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>プロジェクトの設定</translation>
    </message>
    <message>
        <source>Project settings…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>プロジェクトの設定…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>プロンプト</translation>
    </message>
    <message>
        <source>Pronunciations</source>
        <extracomment>app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>発音</translation>
    </message>
    <message>
        <source>Python in a sandbox needs Linux on x86-64 or ARM64.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>サンドボックスの Python には x86-64 または ARM64 の Linux が必要です。</translation>
    </message>
    <message>
        <source>Python in a sandbox needs a Python on this machine. Install the package python3 of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>サンドボックスの Python には、このコンピューターに Python が必要です。システムの python3 パッケージをインストールしてください。</translation>
    </message>
    <message>
        <source>Python in a sandbox needs bubblewrap. Install the package bubblewrap of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>サンドボックスの Python には bubblewrap が必要です。システムの bubblewrap パッケージをインストールしてください。</translation>
    </message>
    <message>
        <source>Python sandbox</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Python サンドボックス</translation>
    </message>
    <message>
        <source>Queued. It is sent when the reply has ended.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>待機中です。回答が終わると送信されます。</translation>
    </message>
    <message>
        <source>Quit Grus</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Grus を終了</translation>
    </message>
    <message>
        <source>Read</source>
        <extracomment>app/gui/pane.py, app/gui/read/pane.py</extracomment>
        <translation>読み取り</translation>
    </message>
    <message>
        <source>Read again</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>もう一度読み取る</translation>
    </message>
    <message>
        <source>Read documents</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>文書を読み取る</translation>
    </message>
    <message>
        <source>Read tables, formulas and scans in many languages: a model for documents.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>多言語の表、数式、スキャンを読み取る: 文書用のモデル。</translation>
    </message>
    <message>
        <source>Read the text</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>テキストを読み取る</translation>
    </message>
    <message>
        <source>Reading</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>読み取り中</translation>
    </message>
    <message>
        <source>Reading failed inside: {kind}: {error}</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>読み取り中に内部エラーが発生しました: {kind}: {error}</translation>
    </message>
    <message>
        <source>Reading the conversation: {share}.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>会話を読み込んでいます: {share}。</translation>
    </message>
    <message>
        <source>Reading the file.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>ファイルを読み込んでいます。</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>{name} を読み取り中</translation>
    </message>
    <message>
        <source>Reading {n} tokens.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{n} トークンを読み込んでいます。</translation>
    </message>
    <message>
        <source>Reads files in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>選択したフォルダー内のファイルを読み取ります。</translation>
    </message>
    <message>
        <source>Reads pages of the web. Their addresses leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>ウェブページを読みます。アドレスはこのマシンの外に送られます。</translation>
    </message>
    <message>
        <source>Reads pages: text, tables, formulas and charts in 109 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>109 言語のページを読み取り: 文章、表、数式、グラフ。</translation>
    </message>
    <message>
        <source>Reads text aloud in ten languages, with nine voices.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>10 言語、9 種類の声でテキストを読み上げます。</translation>
    </message>
    <message>
        <source>Reads text aloud on any machine, in English and five other languages. It needs the program espeak-ng.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>どのマシンでも、英語とほか 5 つの言語でテキストを読み上げます。プログラム espeak-ng が必要です。</translation>
    </message>
    <message>
        <source>Reasoning</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/panel.py, app/gui/chat/talk_bar.py, app/gui/sampling_fields.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>思考</translation>
    </message>
    <message>
        <source>Reasoning and tools at the speed of a small model: 3.6 of 21 billion parameters are active per token. For 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>小型モデルの速さで思考とツール。トークンあたり 210 億中 36 億のパラメーターが動作。24 GB 向け。</translation>
    </message>
    <message>
        <source>Reasoning limit</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>思考の上限</translation>
    </message>
    <message>
        <source>Reasoning, code and tools, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>思考、コード、ツールに。16 GB のコンピューター向け。</translation>
    </message>
    <message numerus="yes">
        <source>Reasoning, {n} words</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>思考（{n} 語）</numerusform>
        </translation>
    </message>
    <message>
        <source>Recognizes more detail, reads small print and longer documents.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>より細部まで認識し、小さな文字や長い文書も読み取ります。</translation>
    </message>
    <message>
        <source>Recommended</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>おすすめ</translation>
    </message>
    <message>
        <source>Record</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>録音</translation>
    </message>
    <message>
        <source>Record from the microphone</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>マイクで録音</translation>
    </message>
    <message>
        <source>Recording {time}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>録音 {time}</translation>
    </message>
    <message>
        <source>Recording: {time}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>録音中: {time}</translation>
    </message>
    <message>
        <source>Recordings</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>録音</translation>
    </message>
    <message>
        <source>Redo</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>やり直す</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>動きを減らす</translation>
    </message>
    <message>
        <source>Refresh</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>更新</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>再生成</translation>
    </message>
    <message>
        <source>Remember facts for all conversations</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>すべての会話のために事実を覚える</translation>
    </message>
    <message>
        <source>Remote</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>リモート</translation>
    </message>
    <message>
        <source>Remove</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>削除</translation>
    </message>
    <message>
        <source>Remove from the list</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>リストから削除</translation>
    </message>
    <message>
        <source>Remove the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>ライブラリを削除</translation>
    </message>
    <message>
        <source>Remove the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>プロジェクトを削除</translation>
    </message>
    <message>
        <source>Remove the token</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>トークンを削除</translation>
    </message>
    <message>
        <source>Remove {folder}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{folder} を削除</translation>
    </message>
    <message>
        <source>Remove {folder} from the list</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>{folder} をリストから削除</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <extracomment>app/gui/chat/composer.py, app/gui/settings/tools.py</extracomment>
        <translation>{name} を削除</translation>
    </message>
    <message>
        <source>Removing.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>削除しています。</translation>
    </message>
    <message>
        <source>Rename</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>名前を変更</translation>
    </message>
    <message>
        <source>Rename in the whole recording</source>
        <extracomment>app/gui/listen/pane.py, app/gui/listen/speakers.py</extracomment>
        <translation>録音全体で名前を変更</translation>
    </message>
    <message>
        <source>Rename the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>会話の名前を変更</translation>
    </message>
    <message>
        <source>Rename the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>プロジェクトの名前を変更</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>繰り返しペナルティ</translation>
    </message>
    <message>
        <source>Replace all</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>すべて置換</translation>
    </message>
    <message>
        <source>Replace with</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>置換後の文字列</translation>
    </message>
    <message>
        <source>Replicas</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>レプリカ</translation>
    </message>
    <message>
        <source>Replies are generated on this machine.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>回答はこのコンピューターで生成されます。</translation>
    </message>
    <message>
        <source>Reply</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>回答</translation>
    </message>
    <message>
        <source>Reply of {model}</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>{model} の返信</translation>
    </message>
    <message>
        <source>Repository</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>リポジトリ</translation>
    </message>
    <message>
        <source>Requires</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>必要なもの</translation>
    </message>
    <message>
        <source>Reranking</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>リランキング</translation>
    </message>
    <message>
        <source>Resources</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>リソース</translation>
    </message>
    <message>
        <source>Restart Grus</source>
        <extracomment>app/gui/settings/cuda_pack.py, app/gui/settings/speculation.py</extracomment>
        <translation>Grus を再起動</translation>
    </message>
    <message>
        <source>Result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>結果</translation>
    </message>
    <message>
        <source>Results</source>
        <extracomment>app/gui/palette.py, app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>結果</translation>
    </message>
    <message>
        <source>Resume</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>再開</translation>
    </message>
    <message>
        <source>Resume the audiobook</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>オーディオブックを再開</translation>
    </message>
    <message>
        <source>Retry</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Retry now. Grus also retries automatically.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>今すぐ再試行。Grus も自動的に再試行します。</translation>
    </message>
    <message>
        <source>Reuse the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>テキストを再利用</translation>
    </message>
    <message>
        <source>Rotate the page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>ページを回転</translation>
    </message>
    <message>
        <source>Run in the sandbox</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>サンドボックスで実行</translation>
    </message>
    <message>
        <source>Run or open the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>プレビューを実行または開く</translation>
    </message>
    <message>
        <source>Running on {address}</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>{address} で動作中</translation>
    </message>
    <message>
        <source>Running the code.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>コードを実行しています。</translation>
    </message>
    <message>
        <source>Runs Python without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>ネットワークとあなたのファイルなしで、時間とメモリを制限して Python を実行します。</translation>
    </message>
    <message>
        <source>Runs on</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>動作環境</translation>
    </message>
    <message>
        <source>Sample only from the most likely tokens that together have this probability.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>確率の合計がこの値になるまでの、上位のトークンからのみ選びます。</translation>
    </message>
    <message>
        <source>Sample only from this many of the most likely tokens. 0: all.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>確率の高い順に、この個数のトークンからのみ選びます。0: すべて。</translation>
    </message>
    <message>
        <source>Sampling</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>サンプリング</translation>
    </message>
    <message>
        <source>Save</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>保存</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>プリセットとして保存</translation>
    </message>
    <message>
        <source>Save audio</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>音声を保存</translation>
    </message>
    <message>
        <source>Save now</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>今すぐ保存</translation>
    </message>
    <message>
        <source>Save the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声を保存</translation>
    </message>
    <message>
        <source>Save to</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>保存先</translation>
    </message>
    <message>
        <source>Saved as {file}.</source>
        <extracomment>app/gui/pane.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>{file} として保存しました。</translation>
    </message>
    <message>
        <source>Say something. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>お話しください。Esc キーで終了します。</translation>
    </message>
    <message>
        <source>Say what is spoken in the recording, or clone the voice&apos;s colour alone.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>録音で話されている内容を入力するか、声質のみをクローンしてください。</translation>
    </message>
    <message>
        <source>Scaled down from {width} x {height} to {less} x {lower} pixels.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{width} × {height} から {less} × {lower} ピクセルに縮小しました。</translation>
    </message>
    <message>
        <source>Screen capture</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>画面の取り込み</translation>
    </message>
    <message>
        <source>Seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>印影</translation>
    </message>
    <message>
        <source>Search</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>検索</translation>
    </message>
    <message>
        <source>Search Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face を検索</translation>
    </message>
    <message>
        <source>Search Hugging Face, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face を検索（Enter キー）</translation>
    </message>
    <message>
        <source>Search in all conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>すべての会話を検索</translation>
    </message>
    <message>
        <source>Search in the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>ライブラリ内を検索</translation>
    </message>
    <message>
        <source>Searches the libraries in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>選択したフォルダーのライブラリを検索します。</translation>
    </message>
    <message>
        <source>Searches the web through an address of yours: SearXNG, or Brave with a key. Queries leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>指定したアドレス（SearXNG、またはキーを使う Brave）でウェブを検索します。検索語はこのマシンの外に送られます。</translation>
    </message>
    <message>
        <source>Searching Hugging Face for {words}.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Hugging Face で「{words}」を検索しています。</translation>
    </message>
    <message>
        <source>Searching your documents.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>書類を検索しています。</translation>
    </message>
    <message>
        <source>See what is installed, or download a recommended model that fits.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>インストール済みのモデルを確認するか、動作するおすすめのモデルをダウンロードします。</translation>
    </message>
    <message>
        <source>Seed</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>シード</translation>
    </message>
    <message>
        <source>Send</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>送信</translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>送信 (Enter)</translation>
    </message>
    <message>
        <source>Separate origins with commas. * allows all.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>オリジンはカンマで区切ります。* ですべて許可します。</translation>
    </message>
    <message>
        <source>Server</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>サーバー</translation>
    </message>
    <message>
        <source>Settings</source>
        <extracomment>app/gui/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>設定</translation>
    </message>
    <message>
        <source>Settings of this conversation</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>この会話の設定</translation>
    </message>
    <message>
        <source>Settings of {name}</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>{name} の設定</translation>
    </message>
    <message>
        <source>Settings say to work offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>「設定」で「オフラインで使う」がオンになっています</translation>
    </message>
    <message>
        <source>Several draft tokens are verified in one step. Replies come sooner and stay the same.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>複数のドラフトトークンを 1 ステップで検証します。応答は速くなり、内容は変わりません。</translation>
    </message>
    <message>
        <source>Shortened to {n} characters.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{n} 文字に短縮しました。</translation>
    </message>
    <message>
        <source>Show</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>表示</translation>
    </message>
    <message>
        <source>Show Grus</source>
        <extracomment>app/gui/desktop.py, app/gui/hotkey.py</extracomment>
        <translation>Grus を表示</translation>
    </message>
    <message numerus="yes">
        <source>Show all, {n} lines</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>すべて表示、{n} 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Show data folder</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>データフォルダーを表示</translation>
    </message>
    <message>
        <source>Show folder</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>フォルダーを表示</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>フォルダーで表示</translation>
    </message>
    <message>
        <source>Show less</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>折りたたむ</translation>
    </message>
    <message>
        <source>Show me</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>表示する</translation>
    </message>
    <message>
        <source>Show on Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Hugging Face で表示</translation>
    </message>
    <message>
        <source>Show or hide reasoning</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>思考の表示を切り替え</translation>
    </message>
    <message>
        <source>Show reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>思考を表示</translation>
    </message>
    <message>
        <source>Show the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>呼び出しを表示</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>フォルダを表示</translation>
    </message>
    <message>
        <source>Show the log</source>
        <extracomment>app/gui/settings/pane.py, app/gui/window.py</extracomment>
        <translation>ログを表示</translation>
    </message>
    <message>
        <source>Show the log of {name}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} のログを表示</translation>
    </message>
    <message>
        <source>Show tokens and time under replies</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>回答の下にトークン数と時間を表示</translation>
    </message>
    <message>
        <source>Show tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>ツールを表示</translation>
    </message>
    <message>
        <source>Show under every reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>すべての回答の下に表示</translation>
    </message>
    <message>
        <source>Show {what}</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>{what}を表示</translation>
    </message>
    <message>
        <source>Side note</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>余白の注記</translation>
    </message>
    <message>
        <source>Sign in</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>サインイン</translation>
    </message>
    <message>
        <source>Sign in at {host} in your browser. Grus waits for the answer.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>ブラウザーで {host} にサインインしてください。Grus は応答を待っています。</translation>
    </message>
    <message>
        <source>Sign out</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>サインアウト</translation>
    </message>
    <message>
        <source>Simple conversations in many languages with little memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>少ないメモリーで、多くの言語の簡単な会話ができます。</translation>
    </message>
    <message>
        <source>Simple conversations, tools and code, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>簡単な会話、ツール、コードに。16 GB のコンピューター向け。</translation>
    </message>
    <message>
        <source>Small and fast, in many languages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>小型で高速、多言語対応。思考はオンとオフを選べます。</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>文字を小さく</translation>
    </message>
    <message>
        <source>Snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>スニペット</translation>
    </message>
    <message>
        <source>Something is being spoken. Wait for it, or stop it.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>読み上げ中です。終わるまで待つか、停止してください。</translation>
    </message>
    <message>
        <source>Something went wrong inside Grus: {error}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Grus 内部でエラーが発生しました: {error}。</translation>
    </message>
    <message>
        <source>Sorts the passages of a search by how well they answer the question.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>検索で見つかった文章を、質問への答えとしてふさわしい順に並べます。</translation>
    </message>
    <message>
        <source>Spark-TTS has no voice {name}. It has: female, male.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS に声 {name} はありません。使える声: female、male。</translation>
    </message>
    <message>
        <source>Spark-TTS speaks Chinese and English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS が話せるのは中国語と英語です（{language} は話せません）。</translation>
    </message>
    <message>
        <source>Spark-TTS takes no instructions for a cloned voice: pitch and speed are the recording&apos;s.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>クローンした声では、Spark-TTS は指示に対応していません。高さと速さは録音のとおりになります。</translation>
    </message>
    <message>
        <source>Speak</source>
        <extracomment>app/gui/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>読み上げ</translation>
    </message>
    <message>
        <source>Speak the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>テキストを読み上げる</translation>
    </message>
    <message>
        <source>Speak to interrupt the voice.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>話しかけると音声を中断できます。</translation>
    </message>
    <message>
        <source>Speaker {number}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>話者 {number}</translation>
    </message>
    <message>
        <source>Speakers</source>
        <extracomment>app/gui/listen/speakers.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>話者</translation>
    </message>
    <message>
        <source>Speakers whom you name in Listen are named in the next recording, where a model that recognizes voices is installed. What is kept of a voice are numbers, on this machine only.</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>「聞き取り」で名前を付けた話者は、声を認識するモデルがあれば、次の録音でも名前が表示されます。声について保存されるのは数値だけで、このコンピューターの中だけです。</translation>
    </message>
    <message>
        <source>Speaking</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>読み上げ中</translation>
    </message>
    <message>
        <source>Speaking style: cheerful, slow, slightly hoarse</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>話し方の例: 明るく、ゆっくり、少しかすれた声で</translation>
    </message>
    <message>
        <source>Speaks 600 languages, in a voice that you describe or in that of a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>説明した声、または録音の声で、600 の言語を話します。</translation>
    </message>
    <message>
        <source>Speaks English, in the voice of a recording of a few seconds, and as expressively as you choose.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>英語を話します。数秒の録音の声で、表現の豊かさも選べます。</translation>
    </message>
    <message>
        <source>Speculative decoding</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>投機的デコード</translation>
    </message>
    <message>
        <source>Speech</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>音声合成</translation>
    </message>
    <message>
        <source>Speed</source>
        <extracomment>app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>速度</translation>
    </message>
    <message>
        <source>Split here</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>ここで分割</translation>
    </message>
    <message>
        <source>Start or stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>サーバーを開始または停止</translation>
    </message>
    <message>
        <source>Start server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>サーバーを開始</translation>
    </message>
    <message>
        <source>Starting</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>開始しています</translation>
    </message>
    <message>
        <source>Starting the tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>ツールを起動しています。</translation>
    </message>
    <message>
        <source>Starting {name}.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} を起動しています。</translation>
    </message>
    <message>
        <source>Status</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>状態</translation>
    </message>
    <message>
        <source>Stop</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/listen/pane.py, app/gui/speak/pane.py, app/gui/window.py</extracomment>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop (Esc)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>停止 (Esc)</translation>
    </message>
    <message>
        <source>Stop dictating</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>音声入力を停止</translation>
    </message>
    <message>
        <source>Stop recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>録音を停止</translation>
    </message>
    <message>
        <source>Stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>サーバーを停止</translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>読み上げを停止</translation>
    </message>
    <message>
        <source>Stop the server to change these.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>変更するには、サーバーを停止してください。</translation>
    </message>
    <message>
        <source>Stop transcribing</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>文字起こしを停止</translation>
    </message>
    <message>
        <source>Stopped</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/chat/preview.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>停止しました</translation>
    </message>
    <message>
        <source>Stopped after {done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{total} ページ中 {done} ページで停止</translation>
    </message>
    <message>
        <source>Subtitles (SRT)</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>字幕 (SRT)</translation>
    </message>
    <message>
        <source>Switch between light and dark</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>ライトとダークを切り替え</translation>
    </message>
    <message>
        <source>System</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>システム</translation>
    </message>
    <message>
        <source>System prompt</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>システムプロンプト</translation>
    </message>
    <message>
        <source>System prompt and sampling</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>システムプロンプトとサンプリング</translation>
    </message>
    <message>
        <source>Table</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/read/document.py, app/gui/viewmodels/read.py</extracomment>
        <translation>表</translation>
    </message>
    <message>
        <source>Tags in the text control the voice: {tags}.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>テキスト中のタグで声を調整できます: {tags}。</translation>
    </message>
    <message>
        <source>Takes effect after a restart of Grus.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Grus の再起動後に有効になります。</translation>
    </message>
    <message>
        <source>Talk</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>音声会話</translation>
    </message>
    <message>
        <source>Talk needs a speech recognition model and a text-to-speech model. Download {names} here, then try again.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>音声会話には、音声認識モデルと音声合成モデルが必要です。ここで {names} をダウンロードして、もう一度お試しください。</translation>
    </message>
    <message>
        <source>Tell speakers apart</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>話者を区別</translation>
    </message>
    <message>
        <source>Tells who speaks when in a recording, beside a model that transcribes: up to four speakers.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>文字起こしのモデルと組み合わせて、録音の中で誰がいつ話しているかを示します。最大4人まで。</translation>
    </message>
    <message>
        <source>Temperature</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>温度</translation>
    </message>
    <message>
        <source>Tensor parallelism</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>テンソル並列</translation>
    </message>
    <message>
        <source>Text</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>テキスト</translation>
    </message>
    <message>
        <source>Text of the segment</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>区間のテキスト</translation>
    </message>
    <message>
        <source>Text only</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>テキストのみ</translation>
    </message>
    <message>
        <source>Text size</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>文字サイズ</translation>
    </message>
    <message>
        <source>Text to speak</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>読み上げるテキスト</translation>
    </message>
    <message>
        <source>Text with positions</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>位置情報付きテキスト</translation>
    </message>
    <message>
        <source>Texts</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>テキスト</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be downloaded: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>CUDA パックをダウンロードできません: {reason}。</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be removed: {reason}. Close every Grus that uses it first.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>CUDA パックを削除できません: {reason}。使用中の Grus をすべて閉じてください。</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be unpacked: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>CUDA パックを展開できません: {reason}。</translation>
    </message>
    <message>
        <source>The CUDA pack needs {needed}, but {folder} has only {free} left. {variable} names another place.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>CUDA パックには {needed} が必要ですが、{folder} の空きは {free} だけです。{variable} で別の場所を指定できます。</translation>
    </message>
    <message>
        <source>The Hugging Face cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Hugging Face のキャッシュ</translation>
    </message>
    <message>
        <source>The Hugging Face cache, shared with other programs</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Hugging Face のキャッシュ（ほかのプログラムと共有）</translation>
    </message>
    <message>
        <source>The PDF has no pages.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>PDF にページがありません。</translation>
    </message>
    <message>
        <source>The PDF is damaged or incomplete.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>PDF が破損しているか不完全です。</translation>
    </message>
    <message>
        <source>The PDF is protected. Give its password.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>PDF は保護されています。パスワードを入力してください。</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} reads handwriting, formulas and other scripts, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader はこのページの内容に確信がありません。{model} は手書き文字、数式、ほかの文字体系を読み取ります。このマシンでは 1 ページあたり約 {seconds} 秒です。</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} with {layout} as its layout reads other scripts and photographs, line by line.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader はこのページの内容に確信がありません。{layout} をレイアウトに使う {model} は、ほかの文字体系や写真を 1 行ずつ読み取ります。</translation>
    </message>
    <message>
        <source>The address begins with http: others on the way can read what is sent, and the key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>アドレスが http で始まるため、送信内容とキーを経路上の第三者が読めます。</translation>
    </message>
    <message>
        <source>The address of a search is like https://searx.example.org or http://127.0.0.1:8080.</source>
        <extracomment>app/runtime/tools/web.py</extracomment>
        <translation>検索のアドレスは https://searx.example.org や http://127.0.0.1:8080 のような形です。</translation>
    </message>
    <message>
        <source>The best reasoning and code of its size, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>このサイズで最高の思考とコード。高速な 32 GB メモリー向け。</translation>
    </message>
    <message>
        <source>The certificate of {name} at {host} is not valid.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{host} にある {name} の証明書は無効です。</translation>
    </message>
    <message>
        <source>The chat model in memory corrects punctuation, capitals, filler words and slips. Without one, the text is typed as it was spoken. The last texts as they were spoken are kept here until Grus is closed.</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>読み込まれているチャットモデルが句読点、大文字、つなぎ言葉、言い間違いを直します。ない場合は話したとおりに入力されます。話したとおりの最近のテキストは、Grus を閉じるまでここに残ります。</translation>
    </message>
    <message>
        <source>The chat template of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>このモデルのチャットテンプレートは使えません。</translation>
    </message>
    <message>
        <source>The clipboard contains no image and no file.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>クリップボードに画像もファイルもありません。</translation>
    </message>
    <message>
        <source>The configuration of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>このモデルの設定ファイルは使えません。</translation>
    </message>
    <message>
        <source>The date, the day of the week and the time.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>日付、曜日、時刻。</translation>
    </message>
    <message>
        <source>The desktop did not give the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>デスクトップ環境がショートカットを許可しませんでした。欄を空にして、もう一度キーを押してください。</translation>
    </message>
    <message>
        <source>The desktop ended the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>デスクトップ環境がショートカットを終了しました。欄を空にして、もう一度キーを押してください。</translation>
    </message>
    <message>
        <source>The disk has too little room for what is in this archive.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>このアーカイブの内容に対してディスクの空き容量が足りません。</translation>
    </message>
    <message>
        <source>The disk is full, so {repo} could not be downloaded to its end{where}. What arrived is kept: make room, and download it again to continue.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>ディスクがいっぱいのため、{repo} のダウンロードを完了できませんでした{where}。ダウンロード済みの分は残っています。空きを増やして、もう一度ダウンロードすると再開します。</translation>
    </message>
    <message>
        <source>The download of {name} was interrupted. Start it again: it continues from there.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} のダウンロードが中断されました。もう一度開始すると、続きから再開します。</translation>
    </message>
    <message>
        <source>The engine failed: {kind}: {error}</source>
        <extracomment>engine/engine.py, engine/tasks.py</extracomment>
        <translation>エンジンでエラーが発生しました: {kind}: {error}</translation>
    </message>
    <message>
        <source>The engine has been stopped.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>エンジンは停止しています。</translation>
    </message>
    <message>
        <source>The engine is starting.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>エンジンを起動しています。</translation>
    </message>
    <message>
        <source>The engine was stopped before the request ended.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>リクエストが終わる前にエンジンが停止しました。</translation>
    </message>
    <message>
        <source>The fact was deleted.</source>
        <extracomment>app/gui/viewmodels/memories.py</extracomment>
        <translation>事実を削除しました。</translation>
    </message>
    <message>
        <source>The fastest: short answers, summaries and first drafts on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>最も高速。どのコンピューターでも、短い回答、要約、下書きに。</translation>
    </message>
    <message>
        <source>The file holds XML that expands itself or never ends; it is not opened.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>ファイルに、自己展開する、または終わらない XML が含まれているため、開きません。</translation>
    </message>
    <message>
        <source>The file is damaged or incomplete ({kind}).</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>ファイルが破損しているか不完全です（{kind}）。</translation>
    </message>
    <message>
        <source>The file is empty.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>ファイルが空です。</translation>
    </message>
    <message>
        <source>The file is larger than can be read here.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>ファイルが大きすぎて、ここでは読み取れません。</translation>
    </message>
    <message>
        <source>The file is protected with a password. Save a copy without one.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>ファイルはパスワードで保護されています。パスワードなしのコピーを保存してください。</translation>
    </message>
    <message>
        <source>The file unpacks to more than can be read here: it is damaged, or made to do harm.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>展開したファイルが大きすぎます。破損しているか、害を与えるために作られています。</translation>
    </message>
    <message>
        <source>The file with your conversations was damaged. It was saved as {file}, and Grus started with a new one.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>会話のファイルが破損していたため、{file} として保存し、新しいファイルで開始しました。</translation>
    </message>
    <message>
        <source>The format {kind} is not supported. Choose a format from the list.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>{kind} 形式には対応していません。リストから形式を選んでください。</translation>
    </message>
    <message>
        <source>The hub does not say which version of {name} it has. Try again later.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>Hugging Face が {name} のバージョンを返しません。後でもう一度お試しください。</translation>
    </message>
    <message>
        <source>The hub redirects a file in a circle. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face でファイルの転送がループしています。後でもう一度お試しください。</translation>
    </message>
    <message>
        <source>The image has no pixels.</source>
        <extracomment>engine/media/documents.py, engine/media/image.py</extracomment>
        <translation>画像にピクセルがありません。</translation>
    </message>
    <message>
        <source>The image has pixels of floating point, which have no fixed white. Save it with 8 bits.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>画像のピクセルが浮動小数点で、白の基準がありません。8 ビットで保存してください。</translation>
    </message>
    <message>
        <source>The image has too many pixels; the most is {most}.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>画像のピクセル数が多すぎます。上限は {most} です。</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than can be read ({most}).</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>画像は {width} × {height} ピクセルで、読み取れる上限（{most}）を超えています。</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than the memory that is free can hold.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>画像は {width} × {height} ピクセルで、空きメモリーに収まりません。</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels; the most is {most} in all.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>画像は {width} × {height} ピクセルです。上限は合計 {most} です。</translation>
    </message>
    <message>
        <source>The image is damaged or incomplete ({kind}).</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>画像が破損しているか不完全です（{kind}）。</translation>
    </message>
    <message>
        <source>The image is empty.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>画像が空です。</translation>
    </message>
    <message>
        <source>The image needs more memory than is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>画像に必要なメモリーが、空きメモリーを超えています。</translation>
    </message>
    <message>
        <source>The image needs more memory than there is. Send a smaller one.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>画像に必要なメモリーが足りません。より小さい画像を使ってください。</translation>
    </message>
    <message>
        <source>The index was made by a newer version of Grus.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>インデックスは新しいバージョンの Grus で作成されています。</translation>
    </message>
    <message>
        <source>The key is copied.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>キーをコピーしました。</translation>
    </message>
    <message>
        <source>The library that runs models.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>モデルを実行するライブラリです。</translation>
    </message>
    <message>
        <source>The list of new versions cannot be read. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新しいバージョンの一覧を読み込めません。何も変更されていません。</translation>
    </message>
    <message>
        <source>The list of new versions is not trusted: {reason}. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新しいバージョンの一覧は信頼できません：{reason}。何も変更されていません。</translation>
    </message>
    <message>
        <source>The list of new versions is too large. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新しいバージョンの一覧が大きすぎます。何も変更されていません。</translation>
    </message>
    <message>
        <source>The log has more.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>詳細はログにあります。</translation>
    </message>
    <message>
        <source>The loudspeaker was disconnected. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>スピーカーの接続が切れました。接続してから、もう一度再生してください。</translation>
    </message>
    <message>
        <source>The maximum length was reached. Press Continue for more.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>最大長に達しました。続きを表示するには「続ける」を押してください。</translation>
    </message>
    <message>
        <source>The message was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>メッセージを削除しました。</translation>
    </message>
    <message>
        <source>The microphone could not be opened. Is another program using it?</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>マイクを開けませんでした。ほかのプログラムが使用していませんか？</translation>
    </message>
    <message>
        <source>The microphone was disconnected. The recording so far is kept. Connect a microphone, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>マイクの接続が切れました。ここまでの録音は残っています。マイクを接続して、もう一度お試しください。</translation>
    </message>
    <message>
        <source>The model chosen last</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>最後に選んだモデル</translation>
    </message>
    <message>
        <source>The model is not sure of this text.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>モデルはこのテキストに確信がありません。</translation>
    </message>
    <message>
        <source>The model made no voice of these words. Try another seed.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>モデルがこの言葉から声を作れませんでした。もう一度お試しください。</translation>
    </message>
    <message>
        <source>The model may call this tool.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>モデルはこのツールを呼び出せます。</translation>
    </message>
    <message>
        <source>The model {model} writes no text.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>モデル {model} は文章を生成しません。</translation>
    </message>
    <message>
        <source>The model {name} cannot be used here.</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>モデル {name} はここでは使えません。</translation>
    </message>
    <message>
        <source>The model {name} could not be loaded: {kind}: {error}</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>モデル {name} を読み込めませんでした: {kind}: {error}</translation>
    </message>
    <message>
        <source>The model {name} is not loaded.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>モデル {name} は読み込まれていません。</translation>
    </message>
    <message>
        <source>The model {name} takes {size} MiB; the memory limit is {limit} MiB, and its sequences need room too.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>モデル {name} は {size} MiB を使います。メモリーの上限は {limit} MiB で、シーケンス用の領域も必要です。</translation>
    </message>
    <message>
        <source>The name or folder of a small model with the same vocabulary, or of an EAGLE-3 head made for the model.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>同じ語彙を持つ小さなモデル、またはそのモデル用の EAGLE-3 ヘッドの名前かフォルダー。</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>新しいバージョンがダウンロードされました。署名は有効です。</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid. In a terminal: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>新しいバージョンがダウンロードされました。署名は有効です。ターミナルで：{command}</translation>
    </message>
    <message>
        <source>The page</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>ページ</translation>
    </message>
    <message>
        <source>The page can load nothing from the network and send nothing.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>このページはネットワークから何も読み込まず、何も送信しません。</translation>
    </message>
    <message>
        <source>The page is empty.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>ページは空白です。</translation>
    </message>
    <message>
        <source>The password is wrong.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>パスワードが正しくありません。</translation>
    </message>
    <message>
        <source>The process that answered has ended: {why}. Send the request again.</source>
        <extracomment>engine/parallel/replica_scheduler.py</extracomment>
        <translation>応答していたプロセスが終了しました: {why}。要求をもう一度送信してください。</translation>
    </message>
    <message>
        <source>The project was removed. Its conversations are still here.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>プロジェクトを削除しました。会話は残っています。</translation>
    </message>
    <message>
        <source>The prompt has {tokens} tokens; the context holds {limit}, and a reply needs room too. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>プロンプトは {tokens} トークンです。コンテキストは {limit} トークンまでで、回答の分も必要です。短くしてください。</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>プロンプトが空です。</translation>
    </message>
    <message>
        <source>The reading was stopped.</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>読み取りを停止しました。</translation>
    </message>
    <message>
        <source>The recording is clipped: {share} of its samples are as loud as it goes. Record it again, quieter.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>録音の音が割れています。サンプルの {share} が最大値です。音量を下げて録音し直してください。</translation>
    </message>
    <message>
        <source>The recording is silent.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>録音が無音です。</translation>
    </message>
    <message>
        <source>The recording lasts {seconds} seconds. A voice can be taken from {least} to {most}; 3 to 15 are best.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>録音は {seconds} 秒です。声を取得できるのは {least}～{most} 秒で、3～15 秒が最適です。</translation>
    </message>
    <message>
        <source>The recording of {name} is too short to know the voice again.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>{name} の録音は短すぎて、声を認識できません。</translation>
    </message>
    <message>
        <source>The recording&apos;s codes do not belong to this model. Make the voice again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>録音のコードがこのモデルのものではありません。声を作り直してください。</translation>
    </message>
    <message>
        <source>The same seed gives the same answer.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>シードが同じなら、同じ回答になります。</translation>
    </message>
    <message>
        <source>The same, with fewer errors.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>同じ用途で、誤りがより少ないモデル。</translation>
    </message>
    <message>
        <source>The server {name} was removed, with its key.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>サーバー {name} をキーとともに削除しました。</translation>
    </message>
    <message>
        <source>The servers cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>サーバーを {file} に保存できません: {reason}。</translation>
    </message>
    <message>
        <source>The system has no voice that speaks {language}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>システムには {language} を話す音声がありません。</translation>
    </message>
    <message>
        <source>The system has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>システムに音声 {name} はありません。あるもの: {voices}。</translation>
    </message>
    <message>
        <source>The system&apos;s voice failed ({reason}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>システムの音声でエラーが発生しました（{reason}）。</translation>
    </message>
    <message>
        <source>The system&apos;s voices clone none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>システムの音声は他の声を複製できません。複製するには Qwen3-TTS Base モデルを選んでください。</translation>
    </message>
    <message>
        <source>The system&apos;s voices take no instructions.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>システムの音声には指示を与えられません。</translation>
    </message>
    <message>
        <source>The text</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>テキスト</translation>
    </message>
    <message>
        <source>The text cannot be typed ({error}); it is in the clipboard. On Debian, install libxtst6.</source>
        <extracomment>app/gui/keyboard/x11_paste.py</extracomment>
        <translation>文字を入力できません ({error})。クリップボードに入れました。Debian では libxtst6 をインストールしてください。</translation>
    </message>
    <message>
        <source>The text has {length} characters; the most is {most}.</source>
        <extracomment>engine/pipelines/reading/book.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>テキストは {length} 文字です。上限は {most} 文字です。</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} are spoken at once.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>テキストは {length} 文字です。一度に読み上げるのは {most} 文字までです。</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} can be spoken at once.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>テキストは {length} 文字です。一度に読み上げられるのは {most} 文字までです。</translation>
    </message>
    <message>
        <source>The text has {tokens} tokens; the context holds {limit}. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>テキストは {tokens} トークンです。コンテキストは {limit} トークンまでです。短くしてください。</translation>
    </message>
    <message>
        <source>The text is longer than its place on the page can hold.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>テキストが、ページ上の領域に収まる長さを超えています。</translation>
    </message>
    <message>
        <source>The text repeats itself.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>テキストが繰り返されています。</translation>
    </message>
    <message>
        <source>The text was read.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>テキストを読み取りました。</translation>
    </message>
    <message>
        <source>The token cannot be kept in {file}: {reason}.</source>
        <extracomment>engine/secret_store.py</extracomment>
        <translation>トークンを {file} に保存できません: {reason}。</translation>
    </message>
    <message>
        <source>The tokenizer of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>このモデルのトークナイザーは使えません。</translation>
    </message>
    <message>
        <source>The tools cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>ツールを {file} に保存できません: {reason}。</translation>
    </message>
    <message>
        <source>The tools file {file} cannot be read: {error}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>ツールファイル {file} を読み取れません: {error}。</translation>
    </message>
    <message>
        <source>The tools file {file} is damaged. Correct it or delete it.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>ツールファイル {file} が壊れています。修正するか削除してください。</translation>
    </message>
    <message>
        <source>The voice did not come to an end. Try again, or with a shorter text.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>音声が最後まで生成されませんでした。もう一度試すか、テキストを短くしてください。</translation>
    </message>
    <message>
        <source>The voice has {size} numbers and this model wants {wanted}: it was made for a model of another size. Make it again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>声の値は {size} 個ですが、このモデルには {wanted} 個必要です。別のサイズのモデル用に作られた声です。作り直してください。</translation>
    </message>
    <message>
        <source>The voice was made for another model. Make it again.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py, engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>この声は別のモデル用に作られました。作り直してください。</translation>
    </message>
    <message>
        <source>The voice {name} does not fit this model.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>声 {name} はこのモデルに対応していません。</translation>
    </message>
    <message>
        <source>The voice {name} is damaged. Make it again from {sample}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>声「{name}」が破損しています。{sample} から作り直してください。</translation>
    </message>
    <message>
        <source>The voice {name} is damaged: {path}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>声「{name}」が破損しています: {path}。</translation>
    </message>
    <message>
        <source>The voice {name} is saved.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声「{name}」を保存しました。</translation>
    </message>
    <message>
        <source>The voice {name} was deleted.</source>
        <extracomment>app/gui/viewmodels/known_voices.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>声「{name}」を削除しました。</translation>
    </message>
    <message>
        <source>The weights of this model are damaged or incomplete.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>このモデルの重みが破損しているか不完全です。</translation>
    </message>
    <message>
        <source>The weights take {weights} of the {limit} that may be used, which leaves no room for a conversation. Choose a smaller or more strongly quantized model, or raise the memory limit.</source>
        <extracomment>engine/shares.py</extracomment>
        <translation>使用できる {limit} のうち重みが {weights} を占め、会話の余地がありません。より小さいモデルか、より強く量子化されたモデルを選ぶか、メモリーの上限を上げてください。</translation>
    </message>
    <message>
        <source>There are no documents and no images in the folder {path}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>フォルダー {path} に文書も画像もありません。</translation>
    </message>
    <message>
        <source>There is a voice called {name} already. Choose another name, or delete it first.</source>
        <extracomment>engine/pipelines/speaking/voice.py, app/runtime/voice.py</extracomment>
        <translation>「{name}」という声がすでにあります。別の名前にするか、先に削除してください。</translation>
    </message>
    <message>
        <source>There is no file {path}.</source>
        <extracomment>engine/media/documents.py, app/runtime/imports/export_file.py</extracomment>
        <translation>ファイル {path} がありません。</translation>
    </message>
    <message>
        <source>There is no folder {path}.</source>
        <extracomment>engine/pipelines/reading/watching.py, app/runtime/library/folders.py, app/runtime/library/indexer.py</extracomment>
        <translation>フォルダー {path} はありません。</translation>
    </message>
    <message>
        <source>There is no other model</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>他のモデルはありません</translation>
    </message>
    <message>
        <source>There is no room for another model while those that are loaded work.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>読み込み済みのモデルが動作している間は、別のモデルを読み込む余地がありません。</translation>
    </message>
    <message>
        <source>There is no room for another model: all that are loaded are pinned.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>別のモデルを読み込む余地がありません。読み込み済みのモデルはすべて固定されています。</translation>
    </message>
    <message>
        <source>There is no saved voice called {name}. Saved: {known}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>{name} という保存済みの声はありません。保存済み: {known}。</translation>
    </message>
    <message>
        <source>There is no server {name} here. Added: {have}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>サーバー {name} はありません。追加済み: {have}。</translation>
    </message>
    <message>
        <source>There is no text to speak.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py, engine/pipelines/speaking/system_voice.py, engine/pipelines/speaking/voice.py</extracomment>
        <translation>読み上げるテキストがありません。</translation>
    </message>
    <message>
        <source>There is no tool server {name}. Added: {have}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>ツールサーバー {name} はありません。追加済み: {have}。</translation>
    </message>
    <message>
        <source>There is no voice {name}. Choose one of {voices}.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>声 {name} はありません。次から選んでください: {voices}。</translation>
    </message>
    <message>
        <source>There is nothing to say: the text is empty.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py, engine/pipelines/speaking/qwen3_tts.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>読み上げるものがありません。テキストが空です。</translation>
    </message>
    <message>
        <source>There was nothing to speak.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>読み上げるものがありませんでした。</translation>
    </message>
    <message>
        <source>These hold for all conversations in the project, also for those that are there already.</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>プロジェクト内のすべての会話に適用されます。既存の会話も含みます。</translation>
    </message>
    <message>
        <source>This JSON file contains no conversation: it has no list of messages.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>この JSON ファイルには会話が含まれていません。メッセージの一覧がありません。</translation>
    </message>
    <message>
        <source>This address belongs to no sign-in that is waited for.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>このアドレスは待機中のサインインのものではありません。</translation>
    </message>
    <message>
        <source>This address comes from the model. Open it in your browser?</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>このアドレスはモデルが出力したものです。ブラウザーで開きますか？</translation>
    </message>
    <message>
        <source>This archive cannot be imported: a part of it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>このアーカイブは読み込めません。一部が壊れています。</translation>
    </message>
    <message>
        <source>This archive is not a document that can be read: no docx, pptx, xlsx, odt, ods, odp or epub.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>このアーカイブは読み取れる文書ではありません (docx、pptx、xlsx、odt、ods、odp、epub のいずれでもありません)。</translation>
    </message>
    <message>
        <source>This archive was made by a newer Grus. Update Grus to import it.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>このアーカイブは新しいバージョンの Grus で作られています。読み込むには Grus を更新してください。</translation>
    </message>
    <message>
        <source>This conversation cannot be imported: one of its messages is incomplete.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>この会話は読み込めません。不完全なメッセージがあります。</translation>
    </message>
    <message>
        <source>This conversation was exported by a newer version of Grus. Update Grus to import it.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>この会話は新しいバージョンの Grus で書き出されました。読み込むには Grus を更新してください。</translation>
    </message>
    <message>
        <source>This copy of Chatterbox cannot clone: it is without its speech tokenizer. Put model.safetensors of mlx-community/S3TokenizerV2 beside it as {name}, or use ResembleAI/chatterbox.</source>
        <extracomment>engine/models/chatterbox_encoder.py</extracomment>
        <translation>この Chatterbox は声を複製できません。音声トークナイザーがありません。mlx-community/S3TokenizerV2 の model.safetensors を {name} として隣に置くか、ResembleAI/chatterbox を使ってください。</translation>
    </message>
    <message>
        <source>This copy of Chatterbox comes without a voice. Clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>この Chatterbox には声が付いていません。録音から複製してください。</translation>
    </message>
    <message>
        <source>This desktop does not let apps capture the screen. Take a screenshot with the desktop&apos;s own tool, then paste it here.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>このデスクトップ環境では、アプリが画面を取り込めません。デスクトップのツールでスクリーンショットを撮り、ここに貼り付けてください。</translation>
    </message>
    <message>
        <source>This desktop does not let apps see a key that is held. In its keyboard settings, add a shortcut for the command {command}, which begins dictation, and the next time ends it.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>このデスクトップ環境では、アプリが押し続けられたキーを検出できません。デスクトップのキーボード設定で、コマンド {command} にショートカットを割り当ててください。音声入力を開始し、次に押すと終了します。</translation>
    </message>
    <message>
        <source>This desktop does not let apps set global shortcuts. In its keyboard settings, add a shortcut for the command {command}, which brings the window to the front.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>このデスクトップ環境では、アプリがグローバルショートカットを設定できません。デスクトップのキーボード設定で、ウインドウを前面に出すコマンド {command} にショートカットを割り当ててください。</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others, so the text is in the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>このデスクトップ環境では、アプリがほかのアプリに入力できないため、テキストをクリップボードに入れました。wtype (Sway、Hyprland)、または ydotool とそのサービス (すべての環境) をインストールしてください。</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others. Copy puts the text into the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service and wl-clipboard (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>このデスクトップ環境では、アプリがほかのアプリに入力できません。「コピー」でテキストがクリップボードに入ります。wtype (Sway、Hyprland)、または ydotool とそのサービスおよび wl-clipboard (すべての環境) をインストールしてください。</translation>
    </message>
    <message>
        <source>This download was interrupted. What was downloaded is kept.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ダウンロードが中断されました。ダウンロード済みの分は残っています。</translation>
    </message>
    <message>
        <source>This file is not JSON. Import a conversation that was exported as JSON.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>このファイルは JSON ではありません。JSON で書き出した会話を読み込んでください。</translation>
    </message>
    <message>
        <source>This file is not a Grus archive, or it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>このファイルは Grus のアーカイブではないか、壊れています。</translation>
    </message>
    <message>
        <source>This is a Base model: it needs a recording of the voice that it is to speak in.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>これは Base モデルです。使う声の録音が必要です。</translation>
    </message>
    <message>
        <source>This is a HEIC image, which needs one more package here: pip install pillow-heif. Or save the picture as JPEG or PNG.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>これは HEIC 画像で、追加のパッケージが必要です: pip install pillow-heif。または、JPEG か PNG で保存してください。</translation>
    </message>
    <message>
        <source>This is a binary Excel file (xlsb). Save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>これはバイナリ形式の Excel ファイル (xlsb) です。xlsx で保存してください。</translation>
    </message>
    <message>
        <source>This is an Outlook message (msg). Save it as eml, or print it to a PDF.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>これは Outlook のメッセージ (msg) です。eml で保存するか、PDF に印刷してください。</translation>
    </message>
    <message>
        <source>This is an old Excel file (xls). Open it in Excel or LibreOffice, and save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>これは古い Excel ファイル (xls) です。Excel または LibreOffice で開き、xlsx で保存してください。</translation>
    </message>
    <message>
        <source>This is an old Office file of a kind that is not read. Save it as docx, xlsx or pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>これは読み取れない種類の古い Office ファイルです。docx、xlsx、pptx のいずれかで保存してください。</translation>
    </message>
    <message>
        <source>This is an old PowerPoint file (ppt). Open it in PowerPoint or LibreOffice, and save it as pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>これは古い PowerPoint ファイル (ppt) です。PowerPoint または LibreOffice で開き、pptx で保存してください。</translation>
    </message>
    <message>
        <source>This is an old Word file (doc). Open it in Word or LibreOffice, and save it as docx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>これは古い Word ファイル (doc) です。Word または LibreOffice で開き、docx で保存してください。</translation>
    </message>
    <message>
        <source>This is neither a document nor an image that can be read.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>読み取れる文書でも画像でもありません。</translation>
    </message>
    <message>
        <source>This is not an image that can be read: {formats} can.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>読み取れる画像ではありません。対応形式: {formats}。</translation>
    </message>
    <message>
        <source>This is the Guide, a tiny helper that answers questions about Grus, in English.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>これは Guide です。Grus についての質問に英語で答える小さなヘルパーです。</translation>
    </message>
    <message>
        <source>This is too long for the model: over {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>モデルには長すぎます: {tokens} トークンを超えています。一度に処理できるのは {limit} トークンまでです。</translation>
    </message>
    <message>
        <source>This is too long for the model: {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>モデルには長すぎます: {tokens} トークンあります。一度に処理できるのは {limit} トークンまでです。</translation>
    </message>
    <message>
        <source>This machine could not be checked in time. Refresh in Models tries again.</source>
        <extracomment>engine/machine.py</extracomment>
        <translation>このマシンを時間内に確認できませんでした。「モデル」の「更新」でもう一度試せます。</translation>
    </message>
    <message>
        <source>This machine only</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>このコンピューターのみ</translation>
    </message>
    <message>
        <source>This model also needs {model}. Download it in Models.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>このモデルには {model} も必要です。「モデル」でダウンロードしてください。</translation>
    </message>
    <message>
        <source>This model creates a voice from a description. Describe one below.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>このモデルは説明から声を作ります。下に声の説明を入力してください。</translation>
    </message>
    <message>
        <source>This model does not speak {language}. It speaks {languages}.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>このモデルは {language} を話せません。話せる言語: {languages}。</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. Choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>このモデルは声の複製に対応していません。対応するモデルを選んでください: Qwen3-TTS Base、Chatterbox、Spark-TTS。</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. For “{name}” choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>このモデルは声の複製に対応していません。「{name}」には対応するモデルを選んでください: Qwen3-TTS Base、Chatterbox、Spark-TTS。</translation>
    </message>
    <message>
        <source>This model has no voices of its own: it needs a recording of the voice.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>このモデルには独自の声がありません。声の録音が必要です。</translation>
    </message>
    <message>
        <source>This model is gated: accept its terms on Hugging Face first. Then enter your token here.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>このモデルへのアクセスは制限されています。まず Hugging Face で利用規約に同意し、次にここにトークンを入力してください。</translation>
    </message>
    <message>
        <source>This model needs a recorded voice. Create a new voice, or choose one.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>このモデルには録音した声が必要です。新しい声を作るか、声を選んでください。</translation>
    </message>
    <message>
        <source>This model speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>このモデルが話すのは英語で、{language} ではありません。</translation>
    </message>
    <message>
        <source>This model takes no instructions. The CustomVoice and VoiceDesign models of size 1.7B follow them.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>このモデルは指示に対応していません。1.7B の CustomVoice と VoiceDesign が対応しています。</translation>
    </message>
    <message>
        <source>This model was not found.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>このモデルは見つかりません。</translation>
    </message>
    <message>
        <source>This month</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>今月</translation>
    </message>
    <message>
        <source>This page has a table. {model} reads tables as tables, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>このページには表があります。{model} は表を表として読み取ります。このマシンでは 1 ページあたり約 {seconds} 秒です。</translation>
    </message>
    <message>
        <source>This picture cannot be drawn.</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>この画像は描画できません。</translation>
    </message>
    <message>
        <source>This picture defines entities, and is not drawn.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>この画像はエンティティを定義しているため、描画しません。</translation>
    </message>
    <message>
        <source>This picture is too large for a preview.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>この画像は大きすぎてプレビューできません。</translation>
    </message>
    <message>
        <source>This release has no file of the kind {kind}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>このリリースには種類 {kind} のファイルがありません。</translation>
    </message>
    <message>
        <source>This system has no program that speaks ({hint}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>このシステムには音声合成プログラムがありません（{hint}）。</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Chatterbox.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>この声は別のモデルで作られました。Chatterbox で複製し直してください。</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Spark-TTS.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>この声は別のモデルで作られました。Spark-TTS でクローンし直してください。</translation>
    </message>
    <message>
        <source>This week</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>今週</translation>
    </message>
    <message>
        <source>Threads on battery</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>バッテリー使用時のスレッド数</translation>
    </message>
    <message>
        <source>To another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>別のコンピューターへ</translation>
    </message>
    <message>
        <source>Today</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>今日</translation>
    </message>
    <message>
        <source>Tokens and time</source>
        <extracomment>app/gui/chat/message_buttons.py</extracomment>
        <translation>トークン数と時間</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>1 秒あたりのトークン数</translation>
    </message>
    <message>
        <source>Too large for this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>このコンピューターには大きすぎます: {has} に対し約 {needed} が必要です。</translation>
    </message>
    <message>
        <source>Tool</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>ツール</translation>
    </message>
    <message>
        <source>Tool call: {tool}</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>ツール呼び出し: {tool}</translation>
    </message>
    <message>
        <source>Tools</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/settings/tools.py</extracomment>
        <translation>ツール</translation>
    </message>
    <message>
        <source>Top K</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Top K</translation>
    </message>
    <message>
        <source>Top P</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Top P</translation>
    </message>
    <message>
        <source>Transcribe again</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>もう一度文字起こし</translation>
    </message>
    <message>
        <source>Transcribe speech</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>音声を文字起こし</translation>
    </message>
    <message>
        <source>Transcribes English speech while you talk, on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>話した英語をその場で文字起こし。どのコンピューターでも動作。</translation>
    </message>
    <message>
        <source>Transcribes long recordings in 25 European languages, with the time of every word.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>ヨーロッパの 25 の言語の長い録音を、単語ごとの時刻付きで文字に起こします。</translation>
    </message>
    <message>
        <source>Transcribes speech in 30 languages, in noise as well.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>30 の言語の音声を、雑音の中でも文字に起こします。</translation>
    </message>
    <message>
        <source>Transcribes speech in 8 languages, and answers questions about a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>8 の言語の音声を文字に起こし、録音についての質問に答えます。</translation>
    </message>
    <message>
        <source>Transcribes speech in 99 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>99 の言語の音声を文字に起こします。</translation>
    </message>
    <message>
        <source>Transcript</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>文字起こし</translation>
    </message>
    <message>
        <source>Transcript of the recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>録音の文字起こし</translation>
    </message>
    <message>
        <source>Transcript of the recording, for a closer voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>録音の文字起こし（声がより忠実になります）</translation>
    </message>
    <message>
        <source>Transcription</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>文字起こし</translation>
    </message>
    <message>
        <source>Troubleshooting</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>トラブルシューティング</translation>
    </message>
    <message>
        <source>Turned by 180 degrees.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>180 度回転しました。</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the left.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>左に 90 度回転しました。</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the right.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>右に 90 度回転しました。</translation>
    </message>
    <message>
        <source>Type a name and press Enter. Only these words are sent, to huggingface.co.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>名前を入力して Enter キーを押してください。入力した語だけが huggingface.co に送信されます。</translation>
    </message>
    <message>
        <source>Type the result of the tool call.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>ツール呼び出しの結果を入力してください。</translation>
    </message>
    <message>
        <source>Type what to search for: a model&apos;s name, or who made it.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>検索する語を入力してください（モデル名または作成者名）。</translation>
    </message>
    <message>
        <source>Understands images and pages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>画像とページを理解します。思考はオンとオフを選べます。</translation>
    </message>
    <message>
        <source>Understands images, screenshots and charts, and answers questions about them.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>画像、スクリーンショット、グラフを理解し、質問に答えます。</translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>app/gui/bars.py, app/gui/listen/pane.py, app/gui/viewmodels/agents.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/known_voices.py, app/gui/viewmodels/memories.py, app/gui/viewmodels/models/library.py, app/gui/viewmodels/results.py, app/gui/viewmodels/speak.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>元に戻す</translation>
    </message>
    <message>
        <source>Unload</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>解放</translation>
    </message>
    <message>
        <source>Unloading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} を解放しています。</translation>
    </message>
    <message>
        <source>Unpacking.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>展開しています。</translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>ピン留めを外す</translation>
    </message>
    <message>
        <source>Until Grus is closed.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Grus を終了するまで有効です。</translation>
    </message>
    <message>
        <source>Untitled</source>
        <extracomment>app/gui/chat/conversation_list.py</extracomment>
        <translation>無題</translation>
    </message>
    <message>
        <source>Update the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>ライブラリを更新</translation>
    </message>
    <message>
        <source>Updates</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>アップデート</translation>
    </message>
    <message>
        <source>Use</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>使う</translation>
    </message>
    <message>
        <source>Use a library</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>ライブラリを使う</translation>
    </message>
    <message>
        <source>Use a prompt</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>プロンプトを使う</translation>
    </message>
    <message>
        <source>Use a prompt…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>プロンプトを使う…</translation>
    </message>
    <message>
        <source>Use default</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>デフォルトを使用</translation>
    </message>
    <message>
        <source>Use text in PDFs</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>PDF 内のテキストを使う</translation>
    </message>
    <message>
        <source>Use the text layer of a PDF instead of recognizing its image.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>画像を認識する代わりに、PDF のテキストレイヤーを使います。</translation>
    </message>
    <message>
        <source>Use tools</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>ツールを使う</translation>
    </message>
    <message>
        <source>Use {model}</source>
        <extracomment>app/gui/chat/pane.py, app/gui/chat/picture_bar.py</extracomment>
        <translation>{model} を使う</translation>
    </message>
    <message>
        <source>Using the token of the Hugging Face command line, from {file}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Hugging Face のコマンドラインのトークン（{file}）を使用しています。</translation>
    </message>
    <message>
        <source>Variables or headers: NAME=VALUE, one in each line</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>変数またはヘッダー: 名前=値 を 1 行に 1 つ</translation>
    </message>
    <message>
        <source>Verify files</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>ファイルを検証</translation>
    </message>
    <message>
        <source>Verifying</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>検証中</translation>
    </message>
    <message>
        <source>Verifying the files of {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} のファイルを検証しています。</translation>
    </message>
    <message>
        <source>Vision</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>画像認識</translation>
    </message>
    <message>
        <source>Voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声</translation>
    </message>
    <message>
        <source>Voice recognition</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>声の認識</translation>
    </message>
    <message>
        <source>Waiting</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py</extracomment>
        <translation>待機中</translation>
    </message>
    <message>
        <source>Waiting for the model.</source>
        <extracomment>app/gui/viewmodels/chat/reply_stream.py, app/window_reply.py</extracomment>
        <translation>モデルを待っています。</translation>
    </message>
    <message>
        <source>Watch a folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py</extracomment>
        <translation>フォルダーを監視</translation>
    </message>
    <message>
        <source>Watching</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>監視中</translation>
    </message>
    <message>
        <source>Waveform</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>波形</translation>
    </message>
    <message>
        <source>Web page</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>ウェブページ</translation>
    </message>
    <message>
        <source>Web page reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>ウェブページの読み取り</translation>
    </message>
    <message>
        <source>Web search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>ウェブ検索</translation>
    </message>
    <message>
        <source>Weights</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>重み</translation>
    </message>
    <message>
        <source>What answered is not Hugging Face. A sign-in page of this network, or a wrong HF_ENDPOINT, may stand in between.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>応答したのは Hugging Face ではありません。ネットワークのサインインページか、誤った HF_ENDPOINT が原因かもしれません。</translation>
    </message>
    <message>
        <source>What appears in the folder is read, and the result is written beside its file.</source>
        <extracomment>app/gui/read/watch.py</extracomment>
        <translation>フォルダーに追加されたファイルを読み取り、結果をそのファイルの隣に保存します。</translation>
    </message>
    <message>
        <source>What can you help me with?</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>どんなことを手伝ってくれますか？</translation>
    </message>
    <message>
        <source>What it is asked leaves this machine.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>問い合わせの内容はこのコンピューターの外に送られます。</translation>
    </message>
    <message>
        <source>What its tools are asked leaves this machine.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>そのツールへの問い合わせの内容はこのコンピューターの外に送られます。</translation>
    </message>
    <message>
        <source>What the model should know and how it should answer.</source>
        <extracomment>app/gui/chat/panel.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>モデルに知っておいてほしいことと、回答のしかた。</translation>
    </message>
    <message>
        <source>What the voice is like: an old man, warm and slow</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>声の例: 年配の男性、温かくゆっくり</translation>
    </message>
    <message>
        <source>What to read</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>読み取る対象</translation>
    </message>
    <message>
        <source>What tool servers have to read goes with your message as a file.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>ツールサーバーで読めるものは、ファイルとしてメッセージに付きます。</translation>
    </message>
    <message>
        <source>Where the browser shows an error: the address at which it ended</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>ブラウザーにエラーが出る場合：最後に表示されたアドレス</translation>
    </message>
    <message>
        <source>Whole page</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>ページ全体</translation>
    </message>
    <message>
        <source>Window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>ウインドウ</translation>
    </message>
    <message>
        <source>Windows does not let Grus type into this app; the text is in the clipboard. Press Ctrl+V there.</source>
        <extracomment>app/gui/keyboard/windows_paste.py</extracomment>
        <translation>Windows では、Grus はこのアプリに入力できません。テキストはクリップボードにあります。そのアプリで Ctrl+V を押してください。</translation>
    </message>
    <message>
        <source>With headphones, you can interrupt the voice by speaking. With loudspeakers, turn this off: Grus then listens after it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>ヘッドフォンを使うと、話しかけて音声を中断できます。スピーカーを使う場合はオフにしてください。Grus は話し終えてから聞き取ります。</translation>
    </message>
    <message>
        <source>Without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>ネットワークもファイルも使わず、時間とメモリに制限があります。</translation>
    </message>
    <message>
        <source>Work offline</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>オフラインで使う</translation>
    </message>
    <message>
        <source>Works in every app. Clear the field for none.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>すべてのアプリで使えます。使わない場合は欄を空にしてください。</translation>
    </message>
    <message>
        <source>Write NAME=VALUE in each line.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>各行に 名前=値 の形で書いてください。</translation>
    </message>
    <message>
        <source>Write a message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>メッセージを入力</translation>
    </message>
    <message>
        <source>Write, or drop a document</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>入力するか、文書をドロップしてください</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>昨日</translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>あなた</translation>
    </message>
    <message>
        <source>You are signed in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>サインインしています。</translation>
    </message>
    <message>
        <source>You are signed out of {name} here.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>ここで {name} からサインアウトしました。</translation>
    </message>
    <message>
        <source>Your conversations cannot be opened: {reason}. The file is unchanged, and Grus will retry.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>会話を開けません: {reason}。ファイルは変更されていません。Grus が再試行します。</translation>
    </message>
    <message>
        <source>Your conversations were saved by a newer version of Grus. Update Grus to open them. The file is unchanged.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>会話は新しいバージョンの Grus で保存されています。開くには Grus を更新してください。ファイルは変更されていません。</translation>
    </message>
    <message>
        <source>Your last changes are not saved yet. Close the window again to discard them.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>最後の変更がまだ保存されていません。破棄するには、もう一度ウインドウを閉じてください。</translation>
    </message>
    <message>
        <source>Your message was sent.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>メッセージを送信しました。</translation>
    </message>
    <message>
        <source>Your settings could not be read. They were saved as {file}, and Grus started with default settings.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>設定を読み取れませんでした。{file} として保存し、デフォルトの設定で開始しました。</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>拡大</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>縮小</translation>
    </message>
    <message>
        <source>about {n} tokens/s</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>約 {n} トークン/秒</translation>
    </message>
    <message>
        <source>about {size}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>約 {size}</translation>
    </message>
    <message>
        <source>another program is using it</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>ほかのプログラムが使用しています</translation>
    </message>
    <message>
        <source>bubblewrap does not run on this machine: {reason}</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>このコンピューターでは bubblewrap が動作しません: {reason}</translation>
    </message>
    <message>
        <source>chapter {n} of {total}</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>第 {n} 章 / 全 {total} 章</translation>
    </message>
    <message>
        <source>espeak-ng failed ({reason}).</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>espeak-ng でエラーが発生しました（{reason}）。</translation>
    </message>
    <message>
        <source>fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>速い</translation>
    </message>
    <message>
        <source>first token after {time}</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>最初のトークンまで {time}</translation>
    </message>
    <message>
        <source>fits</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>動作可</translation>
    </message>
    <message>
        <source>from disk</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>ディスクから</translation>
    </message>
    <message>
        <source>gated</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>アクセス制限あり</translation>
    </message>
    <message>
        <source>give Grus a token of your account: `grus token set`, Settings in the window, or HF_TOKEN</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>アカウントのトークンを、ウインドウの「設定」、`grus token set`、または HF_TOKEN で指定してください</translation>
    </message>
    <message>
        <source>high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>高い</translation>
    </message>
    <message numerus="yes">
        <source>in {n} segments</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>{n} 個のセグメント内</numerusform>
        </translation>
    </message>
    <message>
        <source>installed</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>インストール済み</translation>
    </message>
    <message>
        <source>loaded</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>読み込み済み</translation>
    </message>
    <message>
        <source>low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>低い</translation>
    </message>
    <message>
        <source>macOS does not let Grus type into other apps yet: allow it in System Settings, Privacy &amp; Security, Accessibility. The text is in the clipboard.</source>
        <extracomment>app/gui/keyboard/mac_paste.py</extracomment>
        <translation>macOS では、Grus はまだほかのアプリに入力できません。「システム設定」の「プライバシーとセキュリティ」にある「アクセシビリティ」で許可してください。テキストはクリップボードにあります。</translation>
    </message>
    <message>
        <source>moderate</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>ふつう</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>現在</translation>
    </message>
    <message>
        <source>recommended</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>おすすめ</translation>
    </message>
    <message>
        <source>slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>遅い</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>ディスクがいっぱいです</translation>
    </message>
    <message>
        <source>the disk reports an error</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>ディスクがエラーを報告しています</translation>
    </message>
    <message>
        <source>the file cannot be opened</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>ファイルを開けません</translation>
    </message>
    <message>
        <source>the file is read-only</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>ファイルは読み取り専用です</translation>
    </message>
    <message>
        <source>there are too many unsaved changes</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>保存されていない変更が多すぎます</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>メモリーが足りません</translation>
    </message>
    <message>
        <source>tight</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>ぎりぎり</translation>
    </message>
    <message>
        <source>too large</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>大きすぎます</translation>
    </message>
    <message>
        <source>vLLM, SGLang, llama-server, LM Studio, Ollama or another Grus. What you send to its models leaves this machine.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>vLLM、SGLang、llama-server、LM Studio、Ollama、または別の Grus。そのモデルに送信した内容はこのコンピューターの外に出ます。</translation>
    </message>
    <message>
        <source>very fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>とても速い</translation>
    </message>
    <message>
        <source>very high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>とても高い</translation>
    </message>
    <message>
        <source>very low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>とても低い</translation>
    </message>
    <message>
        <source>very slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>とても遅い</translation>
    </message>
    <message>
        <source>{about} Details: {error}</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{about} 詳細: {error}</translation>
    </message>
    <message>
        <source>{app}, {path}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{app}、{path}</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <source>{done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>{total} 個中 {done} 個のファイル</translation>
    </message>
    <message>
        <source>{done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{done} / {total} ページ</translation>
    </message>
    <message>
        <source>{file} cannot be read ({why}). Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} を読み取れません({why})。先に修正してください。何も変更していません。</translation>
    </message>
    <message>
        <source>{file} cannot be read, so no voice was changed. Move it away to begin anew.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} を読み込めないため、声は変更されませんでした。やり直すにはファイルを移動してください。</translation>
    </message>
    <message>
        <source>{file} cannot be replaced: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{file} を置き換えられません：{reason}。</translation>
    </message>
    <message>
        <source>{file} could not be written: {reason}.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} に書き込めませんでした: {reason}。</translation>
    </message>
    <message>
        <source>{file} holds no settings. Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} には設定がありません。先に修正してください。何も変更していません。</translation>
    </message>
    <message>
        <source>{file} holds {name}, which leads out of its folder. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} にはフォルダーの外を指す {name} が含まれています。インポートしません。</translation>
    </message>
    <message>
        <source>{file} is being changed by another program. Try again in a moment.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} は別のプログラムが変更中です。少し待ってからもう一度お試しください。</translation>
    </message>
    <message>
        <source>{file} is damaged: it cannot be unpacked as a whole.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} は破損しており、すべてを展開できません。</translation>
    </message>
    <message>
        <source>{file} is encrypted. Unpack it, and import what is in it.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} は暗号化されています。展開してから中身をインポートしてください。</translation>
    </message>
    <message>
        <source>{file} is no export of ChatGPT, Claude, LM Studio, Jan or Open WebUI that can be read.</source>
        <extracomment>app/runtime/imports/exports.py</extracomment>
        <translation>{file} は ChatGPT、Claude、LM Studio、Jan、Open WebUI の読み取れるエクスポートではありません。</translation>
    </message>
    <message>
        <source>{file} is no text in UTF-8. Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} は UTF-8 のテキストではありません。何も変更していません。</translation>
    </message>
    <message>
        <source>{file} is not there any more.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>{file} はもうありません。</translation>
    </message>
    <message>
        <source>{file} is written in a way that Grus cannot change safely ({why}). Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} は Grus が安全に変更できない書き方になっています({why})。何も変更していません。</translation>
    </message>
    <message>
        <source>{file} unpacks to more than an export can be. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} は展開するとエクスポートとしてありえない大きさになります。インポートしません。</translation>
    </message>
    <message>
        <source>{file}: {reason}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{file}: {reason}。</translation>
    </message>
    <message>
        <source>{folder} contains no model: no config.json with weights, and no GGUF file.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{folder} にモデルがありません。重みを伴う config.json も GGUF ファイルもありません。</translation>
    </message>
    <message>
        <source>{folder} holds an unfinished audiobook of another text, voice or settings. Delete it, or choose another name.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>{folder} には、別のテキスト・声・設定の未完成のオーディオブックがあります。フォルダーを削除するか、別の名前を選んでください。</translation>
    </message>
    <message>
        <source>{free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>空きは {free} です。</translation>
    </message>
    <message>
        <source>{given} could not be read: {reason}.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{given} を読み取れませんでした: {reason}。</translation>
    </message>
    <message>
        <source>{how_far}, {rate}/s, {left} left</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{how_far}、{rate}/秒、残り {left}</translation>
    </message>
    <message>
        <source>{keys} cannot be used. Use a letter, a digit, Space or F1 to F12, with Ctrl, Alt or Meta.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} は使えません。文字、数字、スペース、F1～F12 のいずれかを、Ctrl、Alt、Meta と組み合わせてください。</translation>
    </message>
    <message>
        <source>{keys} cannot be used: {error}. Choose other keys.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} は使えません: {error}。別のキーを選んでください。</translation>
    </message>
    <message>
        <source>{kinds}. Search for {name} to download one of these.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{kinds}。「{name}」を検索すると、いずれかをダウンロードできます。</translation>
    </message>
    <message>
        <source>{model} answers without the images in this conversation.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} はこの会話の画像を使わずに回答します。</translation>
    </message>
    <message>
        <source>{model} clones no voices from here.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} の声の複製はここからは行えません。</translation>
    </message>
    <message>
        <source>{model} does not hear sound.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} は音を聞けません。</translation>
    </message>
    <message>
        <source>{model} does not know the task {task}: the page is read as text. PaddleOCR-VL 1.5 knows every task.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} は {task} に対応していないため、ページをテキストとして読み取ります。PaddleOCR-VL 1.5 はすべてに対応しています。</translation>
    </message>
    <message>
        <source>{model} does not speak.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} は音声を生成しません。</translation>
    </message>
    <message>
        <source>{model} does not speak. Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus and Spark-TTS models do.</source>
        <extracomment>engine/pipelines/speaking/speech_models.py</extracomment>
        <translation>{model} は話せません。Qwen3-TTS、OmniVoice、Pocket-TTS、Chatterbox、Kokoro、Orpheus、Spark-TTS のモデルは話せます。</translation>
    </message>
    <message>
        <source>{model} does not support images.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} は画像に対応していません。</translation>
    </message>
    <message>
        <source>{model} does not support tool calls. It answers without tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{model} はツール呼び出しに対応していません。ツールなしで回答します。</translation>
    </message>
    <message>
        <source>{model} does not write whole pages: its regions are read.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} はページ全体を書き出せません。ページの領域ごとに読み取ります。</translation>
    </message>
    <message>
        <source>{model} has no voices: its folder `voices` is missing. Download it again.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>{model} には声がありません。フォルダー `voices` が見つかりません。もう一度ダウンロードしてください。</translation>
    </message>
    <message>
        <source>{model} is installed. Its checksums are correct.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{model} をインストールしました。チェックサムは一致しています。</translation>
    </message>
    <message>
        <source>{model} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.</source>
        <extracomment>engine/pipelines/reading/layout_model.py</extracomment>
        <translation>{model} はレイアウトモデルではありません。PaddlePaddle/PP-DocLayoutV2 などがあります。</translation>
    </message>
    <message>
        <source>{model} is not the id of a repository.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{model} はリポジトリの ID ではありません。</translation>
    </message>
    <message>
        <source>{model} is ready.</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} の準備ができました。</translation>
    </message>
    <message>
        <source>{model} is ready. Write your first message.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} の準備ができました。最初のメッセージを書いてください。</translation>
    </message>
    <message>
        <source>{model} reads pages line by line and talks about no images. Read them with grus read.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} はページを 1 行ずつ読み取るモデルで、画像についての会話はできません。「読み取り」で開いてください。</translation>
    </message>
    <message>
        <source>{model} reads text only and does not see images.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} はテキストのみに対応し、画像は扱えません。</translation>
    </message>
    <message>
        <source>{model} reads text, not images. Choose a vision model.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>{model} が扱えるのはテキストで、画像ではありません。画像認識モデルを選んでください。</translation>
    </message>
    <message>
        <source>{model} receives the text of the image.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} には画像のテキストが渡されます。</translation>
    </message>
    <message>
        <source>{model} runs on another server, which gives no times of words.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} は別のサーバーで動作しており、単語の時刻は得られません。</translation>
    </message>
    <message>
        <source>{model} transcribes {own}, not {language}. Choose a model for that language.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} が文字起こしできるのは {own} で、{language} ではありません。その言語のモデルを選んでください。</translation>
    </message>
    <message>
        <source>{model} was deleted. {size} will be freed in 30 seconds.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} を削除しました。30 秒後に {size} が空きます。</translation>
    </message>
    <message>
        <source>{model} was removed from the list. Its files were not deleted.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} をリストから削除しました。ファイルは削除されていません。</translation>
    </message>
    <message>
        <source>{names}: unsupported format. Supported: WAV, FLAC, MP3, OGG, Opus, AIFF, AU and CAF.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>{names}: 対応していない形式です。対応形式: WAV、FLAC、MP3、OGG、Opus、AIFF、AU、CAF。</translation>
    </message>
    <message>
        <source>{name} (optional)</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>{name}（任意）</translation>
    </message>
    <message>
        <source>{name} answered something that is not OpenAI&apos;s API. Is the address right?</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} の応答は OpenAI の API ではありません。アドレスは正しいですか？</translation>
    </message>
    <message>
        <source>{name} answered with status {status}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} はステータス {status} を返しました。</translation>
    </message>
    <message>
        <source>{name} answered with status {status}: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} はステータス {status} を返しました: {error}</translation>
    </message>
    <message>
        <source>{name} answers from another address. Add the address that it leads to.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} は別のアドレスに転送します。転送先のアドレスを追加してください。</translation>
    </message>
    <message>
        <source>{name} answers: what you send leaves this machine.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>{name} が応答します。送信した内容はこのコンピューターの外に出ます。</translation>
    </message>
    <message>
        <source>{name} asks you to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} がサインインを求めています。</translation>
    </message>
    <message>
        <source>{name} cannot be opened. {why}</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} を開けません。{why}</translation>
    </message>
    <message>
        <source>{name} cannot be opened: it is damaged or password-protected.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} を開けません。破損しているか、パスワードで保護されています。</translation>
    </message>
    <message>
        <source>{name} cannot be opened: the file is damaged.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} を開けません。ファイルが破損しています。</translation>
    </message>
    <message>
        <source>{name} cannot be reached: nothing answers at {host}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} に接続できません。{host} から応答がありません。</translation>
    </message>
    <message>
        <source>{name} contains no text that can be spoken.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} には読み上げられるテキストがありません。</translation>
    </message>
    <message>
        <source>{name} contains no text.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} にはテキストがありません。</translation>
    </message>
    <message>
        <source>{name} contains no text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/speak.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} にテキストがありません。まず「読み取り」で開いてください。</translation>
    </message>
    <message>
        <source>{name} contains scanned pages without text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} はテキストのないスキャンページです。まず「読み取り」で開いてください。</translation>
    </message>
    <message>
        <source>{name} could not be downloaded: {reason}. What arrived is kept.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} をダウンロードできませんでした：{reason}。届いた分は保存されています。</translation>
    </message>
    <message>
        <source>{name} could not be read as sound ({reason}). {formats} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} を音声として読み込めませんでした（{reason}）。対応形式: {formats}。</translation>
    </message>
    <message>
        <source>{name} could not be saved: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} を保存できませんでした：{reason}。</translation>
    </message>
    <message>
        <source>{name} does not know voices again. WavLM models for x-vectors do.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>{name} は声を認識できません。x-vector 用の WavLM モデルならできます。</translation>
    </message>
    <message>
        <source>{name} does not listen. Choose a model that does, openai/whisper-small for example.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{name} は音声を認識できません。認識できるモデルを選んでください（例: openai/whisper-small）。</translation>
    </message>
    <message>
        <source>{name} does not take this: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} が受け付けませんでした: {error}</translation>
    </message>
    <message>
        <source>{name} does not tell speakers apart. Sortformer models do.</source>
        <extracomment>engine/pipelines/listening/speakers.py</extracomment>
        <translation>{name} は話者を区別できません。Sortformer のモデルならできます。</translation>
    </message>
    <message>
        <source>{name} ended the connection before the reply was complete.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>回答が終わる前に {name} が接続を切断しました。</translation>
    </message>
    <message>
        <source>{name} ended the reply: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} が回答を中断しました: {error}</translation>
    </message>
    <message>
        <source>{name} has no model {model}, or does not do this.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} にモデル {model} がないか、この処理に対応していません。</translation>
    </message>
    <message>
        <source>{name} has written nothing.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} は何も出力していません。</translation>
    </message>
    <message>
        <source>{name} has {own} samples a second; {least} to {most} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} のサンプリングレートは毎秒 {own} です。対応しているのは {least}～{most} です。</translation>
    </message>
    <message>
        <source>{name} holds no sound.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} に音声が含まれていません。</translation>
    </message>
    <message>
        <source>{name} holds samples that are no numbers. The file is damaged.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} に無効なサンプルがあります。ファイルが破損しています。</translation>
    </message>
    <message>
        <source>{name} ignored response_format: its reply is not JSON.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} は response_format を無視しました。回答が JSON ではありません。</translation>
    </message>
    <message>
        <source>{name} ignored response_format: {where} of its reply does not fit the schema.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} は response_format を無視しました。回答の {where} がスキーマに合いません。</translation>
    </message>
    <message>
        <source>{name} ignored tool_choice: its reply calls no tool.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} は tool_choice を無視しました。回答はツールを呼び出していません。</translation>
    </message>
    <message>
        <source>{name} is busy, or its limit is reached. Try again later.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} は混雑しているか、上限に達しています。後でもう一度お試しください。</translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} は空です。</translation>
    </message>
    <message>
        <source>{name} is larger than 512 MB. Choose a smaller file.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} は 512 MB を超えています。より小さいファイルを選んでください。</translation>
    </message>
    <message>
        <source>{name} is longer than {longest}. Split it first.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} は {longest} を超えています。先に分割してください。</translation>
    </message>
    <message>
        <source>{name} is no name for a voice: letters, digits, spaces, dots and dashes, 64 at most.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>{name} は声の名前に使えません。文字、数字、スペース、ピリオド、ハイフンを 64 文字まで使えます。</translation>
    </message>
    <message>
        <source>{name} is no name of a speaker: up to 40 letters, digits, spaces and dashes.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py</extracomment>
        <translation>{name} は話者名に使えません: 40 文字までの文字、数字、空白、ハイフンです。</translation>
    </message>
    <message>
        <source>{name} is not a book that can be read. Choose one of: {kinds}.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} は読み取れる本ではありません。次のいずれかを選んでください: {kinds}</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <extracomment>engine/media/sound.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} はファイルではありません。</translation>
    </message>
    <message>
        <source>{name} is not a file. Drop files, not folders.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} はファイルではありません。フォルダーではなくファイルをドロップしてください。</translation>
    </message>
    <message>
        <source>{name} is not supported. Attach text, PDFs, images or audio.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} には対応していません。テキスト、PDF、画像、音声を添付してください。</translation>
    </message>
    <message>
        <source>{name} is not supported. Choose a {endings} file.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} には対応していません。{endings} のファイルを選んでください。</translation>
    </message>
    <message>
        <source>{name} is not the file that was announced. It was deleted.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} は告知されたファイルと一致しません。削除しました。</translation>
    </message>
    <message>
        <source>{name} is password-protected. Save a copy without a password.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} はパスワードで保護されています。パスワードなしのコピーを保存してください。</translation>
    </message>
    <message>
        <source>{name} is set</source>
        <extracomment>engine/hub/offline.py</extracomment>
        <translation>{name} が設定されています</translation>
    </message>
    <message>
        <source>{name} lists no models. Name one by hand.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} はモデルの一覧を返しません。手動で入力してください。</translation>
    </message>
    <message>
        <source>{name} refuses the key. Add it again, with the right one.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} がキーを拒否しました。正しいキーで追加し直してください。</translation>
    </message>
    <message>
        <source>{name} sent nothing for {seconds} seconds.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} から {seconds} 秒間何も届きませんでした。</translation>
    </message>
    <message>
        <source>{name} wants a key. Add it again, with its key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} にはキーが必要です。キーを付けて追加し直してください。</translation>
    </message>
    <message numerus="yes">
        <source>{name} was added, with {n} models.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>
            <numerusform>{name} を追加しました（モデル {n} 個）。</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} was not asked, because {why}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} には問い合わせませんでした: {why}。</translation>
    </message>
    <message>
        <source>{name} writes no text. Give it as the layout, and a vision model as the model.</source>
        <extracomment>engine/pipelines/reading/text_lines.py</extracomment>
        <translation>{name} は文章を生成しません。画像認識モデルを選んでください。</translation>
    </message>
    <message>
        <source>{name}: {level}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>{name}: {level}</translation>
    </message>
    <message>
        <source>{now} now, at most {most} in the last two minutes</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>現在 {now}、過去 2 分間の最大 {most}</translation>
    </message>
    <message numerus="yes">
        <source>{n} active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>
            <numerusform>処理中のリクエスト: {n} 件。</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} billion</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n}B</translation>
    </message>
    <message numerus="yes">
        <source>{n} chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>
            <numerusform>{n} 章</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conversations imported.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} 件の会話を読み込みました。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>{n} 件の書類</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} 件の書類を読み取れませんでした</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents saved in {folder}.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>
            <numerusform>{n} 件の文書を {folder} に保存しました。</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} downloads per month</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>月間ダウンロード数 {n}</translation>
    </message>
    <message numerus="yes">
        <source>{n} files</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} 個のファイル</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} files read</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} 個のファイルを読み取りました</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} libraries</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} 個のライブラリ</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} million</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n}M</translation>
    </message>
    <message numerus="yes">
        <source>{n} not read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py, app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} ページは未読み取り</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>
            <numerusform>{n} ページ</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages have no text, and no model is here that reads them.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} ページにテキストがなく、読み取れるモデルがありません。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} passages left to embed</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>ベクトル化の残り: {n} か所</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} places replaced</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>{n} か所を置換しました</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} requests are waiting already. Try again later.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>すでに {n} 件のリクエストが待機しています。後でもう一度お試しください。</translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>
            <numerusform>{n} トークン</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} tools</source>
        <extracomment>app/gui/settings/tools.py, app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} 個のツール</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} were there already.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} 件はすでにありました。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} words</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>
            <numerusform>{n} 語</numerusform>
        </translation>
    </message>
    <message>
        <source>{one} and {other}</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>{one} と {other}</translation>
    </message>
    <message>
        <source>{origin} is not a valid origin. Enter one like https://app.example, or * for all.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>{origin} は有効なオリジンではありません。https://app.example のように入力するか、すべて許可する場合は * を入力してください。</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <extracomment>engine/media/documents.py, engine/pipelines/reading/watching.py, engine/pipelines/speaking/pronunciation.py, app/runtime/remote/chat.py</extracomment>
        <translation>{path} を読み取れません: {reason}。</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>{path} に書き込めません: {reason}。</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}.</source>
        <extracomment>engine/media/audiobook_file.py, engine/media/recordings.py, engine/media/sound.py, engine/pipelines/speaking/passage_store.py, engine/pipelines/speaking/spoken_epub.py</extracomment>
        <translation>{path} に書き込めませんでした: {reason}。</translation>
    </message>
    <message>
        <source>{path} is a folder.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} はフォルダーです。</translation>
    </message>
    <message>
        <source>{path} is larger than the memory that is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} は空きメモリーより大きいファイルです。</translation>
    </message>
    <message>
        <source>{path} is no text in UTF-8.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{path} は UTF-8 のテキストではありません。</translation>
    </message>
    <message>
        <source>{path} is not the index of a library.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>{path} はライブラリのインデックスではありません。</translation>
    </message>
    <message>
        <source>{program} (not installed)</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program}(未インストール)</translation>
    </message>
    <message>
        <source>{program} has its earlier settings again.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} は以前の設定に戻りました。</translation>
    </message>
    <message>
        <source>{program} is disconnected. What you changed in {file} since stays.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} の接続を解除しました。その後 {file} で変更した内容は残ります。</translation>
    </message>
    <message>
        <source>{program} is not installed: there is no command {command}. Install it first: {how}</source>
        <extracomment>app/agents/programs.py</extracomment>
        <translation>{program} はインストールされていません。コマンド {command} がありません。先にインストールしてください: {how}</translation>
    </message>
    <message>
        <source>{program} uses this server now.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} はこのサーバーを使用します。</translation>
    </message>
    <message>
        <source>{program} uses this server now. Enter the key in its settings, too.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} はこのサーバーを使用します。その設定にもキーを入力してください。</translation>
    </message>
    <message>
        <source>{program} uses this server now. Its earlier settings are kept in {file}.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} はこのサーバーを使用します。以前の設定は {file} に保管されています。</translation>
    </message>
    <message>
        <source>{program} was not connected by Grus: there is nothing to take back.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{program} は Grus によって接続されていません。元に戻すものはありません。</translation>
    </message>
    <message>
        <source>{rate} tokens/s</source>
        <extracomment>app/gui/bars.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{rate} トークン/秒</translation>
    </message>
    <message>
        <source>{reason}. Grus stays offline until it is restarted without it.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{reason}。この指定なしで再起動するまで、Grus はオフラインのままです。</translation>
    </message>
    <message>
        <source>{repo} cannot be saved{where}: {reason}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} を保存できません{where}: {reason}。</translation>
    </message>
    <message>
        <source>{repo} could not be downloaded: {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} をダウンロードできませんでした: {reason}</translation>
    </message>
    <message>
        <source>{repo} has a file that is larger than this disk or account may hold{where}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} に、このディスクまたはアカウントの上限を超えるファイルがあります{where}。</translation>
    </message>
    <message>
        <source>{repo} has no revision {revision}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} にリビジョン {revision} はありません。</translation>
    </message>
    <message>
        <source>{repo} holds no model files.</source>
        <extracomment>engine/hub/download.py, engine/hub/searching.py</extracomment>
        <translation>{repo} にモデルのファイルがありません。</translation>
    </message>
    <message>
        <source>{repo} holds no tokenizer, and its name, which does not end in -GGUF, tells no other repository. Put a tokenizer.json beside the file.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} にトークナイザーがなく、名前が -GGUF で終わらないため、ほかのリポジトリもわかりません。ファイルの横に tokenizer.json を置いてください。</translation>
    </message>
    <message>
        <source>{repo} is gated, and your token does not open it. Accept its terms on {site}/{repo} with the same account, and wait until its makers have let you in.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} はアクセスが制限されており、このトークンでは利用できません。同じアカウントで {site}/{repo} の利用条件に同意し、作成者の承認をお待ちください。</translation>
    </message>
    <message>
        <source>{repo} is gated. Accept its terms on {site}/{repo}, then {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} はアクセスが制限されています。{site}/{repo} の利用条件に同意してから、{advice}。</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and Hugging Face cannot be reached. Check the network.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} はこのコンピューターになく、Hugging Face にも接続できません。ネットワークを確認してください。</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and {why}, so it cannot be downloaded.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} はこのコンピューターになく、ダウンロードもできません: {why}。</translation>
    </message>
    <message>
        <source>{repo} is not on this machine, and {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} はこのコンピューターにありません。{reason}</translation>
    </message>
    <message>
        <source>{repo} is not the id of a repository.</source>
        <extracomment>engine/hub/client.py, engine/hub/searching.py</extracomment>
        <translation>{repo} はリポジトリの ID ではありません。</translation>
    </message>
    <message>
        <source>{repo} needs {needed}, but {there} has only {free} left.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} には {needed} 必要ですが、{there} の空きは {free} しかありません。</translation>
    </message>
    <message>
        <source>{share} %</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>{share}%</translation>
    </message>
    <message>
        <source>{size} GB</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{size} GB</translation>
    </message>
    <message>
        <source>{size} KB</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{size} KB</translation>
    </message>
    <message>
        <source>{size} MB</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{size} MB</translation>
    </message>
    <message>
        <source>{size} for models, {whole} for Grus in all</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>モデル {size}、Grus 全体 {whole}</translation>
    </message>
    <message>
        <source>{size} in memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>メモリー使用量 {size}</translation>
    </message>
    <message>
        <source>{size} of experts have no room in memory and stay in the file. Replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} のエキスパートはメモリに入らず、ファイルに残ります。返答の速さはディスク次第です。</translation>
    </message>
    <message>
        <source>{size} of memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>メモリー {size}</translation>
    </message>
    <message>
        <source>{speed} here</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>このコンピューターで {speed}</translation>
    </message>
    <message>
        <source>{time} h</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} 時間</translation>
    </message>
    <message>
        <source>{time} left</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>残り {time}</translation>
    </message>
    <message>
        <source>{time} min</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} 分</translation>
    </message>
    <message>
        <source>{time} s</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} 秒</translation>
    </message>
    <message>
        <source>{time} total</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>合計 {time}</translation>
    </message>
    <message>
        <source>{title} (copy)</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>{title}（コピー）</translation>
    </message>
    <message>
        <source>{title} has not been read yet.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{title} はまだ読み取られていません。</translation>
    </message>
    <message>
        <source>{title} must be between {low} and {high}.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>{title} は {low}～{high} の範囲で指定してください。</translation>
    </message>
    <message>
        <source>{tokens} tokens do not fit into the memory for sequences ({limit} MiB). Shorten the prompt, raise the memory limit, or quantize the cache.</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>{tokens} トークンは、シーケンス用のメモリー（{limit} MiB）に収まりません。プロンプトを短くするか、メモリーの上限を上げるか、キャッシュを量子化してください。</translation>
    </message>
    <message>
        <source>{tool} failed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} は失敗しました。</translation>
    </message>
    <message>
        <source>{tool} is asked over the network: {question}</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>ネットワーク経由で {tool} に問い合わせています: {question}</translation>
    </message>
    <message>
        <source>{tool} is running.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} を実行中です。</translation>
    </message>
    <message>
        <source>{tool} was not allowed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} は許可されませんでした。</translation>
    </message>
    <message>
        <source>{tool} was stopped.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} を停止しました。</translation>
    </message>
    <message>
        <source>{tool} was used.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} を使いました。</translation>
    </message>
    <message>
        <source>{variable} is set and takes precedence over a token stored here.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{variable} が設定されており、ここに保存したトークンより優先されます。</translation>
    </message>
    <message>
        <source>{weights} weights, {talk} KV cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>重み {weights}、KV キャッシュ {talk}</translation>
    </message>
    <message>
        <source>{words} is too much. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>{words} は大きすぎます。{how}</translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/results.py</extracomment>
        <translation>「{title}」を削除しました。</translation>
    </message>
    <message>
        <source>“{title}” was removed from the list. The file was not deleted.</source>
        <extracomment>app/gui/viewmodels/results.py</extracomment>
        <translation>「{title}」をリストから削除しました。ファイルは削除されていません。</translation>
    </message>
    <message>
        <source>“{title}” was removed. The folder and its documents were not changed.</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>“{title}” を削除しました。フォルダと書類は変更されていません。</translation>
    </message>
</context>
</TS>
