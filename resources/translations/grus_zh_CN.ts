<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>grus</name>
    <message>
        <source>0 always picks the most likely token. Higher values give more varied replies.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>0 表示始终选择概率最高的 token。数值越大，回复越多样。</translation>
    </message>
    <message>
        <source>2 minutes ago</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>2 分钟前</translation>
    </message>
    <message>
        <source>3 to 15 seconds of one voice are best.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>建议使用 3 到 15 秒的单人录音。</translation>
    </message>
    <message>
        <source>A Pocket-TTS model speaks one language, which is not chosen: leave it at automatic.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Pocket-TTS 模型只说一种语言，不能选择：请保持自动。</translation>
    </message>
    <message>
        <source>A cloned voice keeps the pitch and pace of its recording.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>克隆的声音会保留录音的音高和语速。</translation>
    </message>
    <message>
        <source>A fact has at least one word.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>事实至少要有一个词。</translation>
    </message>
    <message>
        <source>A fact has at most {most} characters, and this one has {n}.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>事实最多 {most} 个字符，这条有 {n} 个。</translation>
    </message>
    <message>
        <source>A file</source>
        <extracomment>app/explain.py</extracomment>
        <translation>文件</translation>
    </message>
    <message>
        <source>A key is one word of letters, digits and signs.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>密钥是由字母、数字和符号组成的一个词。</translation>
    </message>
    <message>
        <source>A line for each word: word = how it is said. Phonemes between slashes are for Kokoro.</source>
        <extracomment>app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>每个词一行：词 = 读法。斜杠之间的音素用于 Kokoro。</translation>
    </message>
    <message>
        <source>A model may call these in conversations where you switch them on. You are asked before each call.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>在您开启它们的对话中，模型可以调用这些工具。每次调用前都会询问您。</translation>
    </message>
    <message>
        <source>A model that calls tools may propose a fact. You are asked before it is kept, and can edit or delete it here.</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>会调用工具的模型可以提议一条事实。保存之前会先询问您，您可以在这里编辑或删除它。</translation>
    </message>
    <message>
        <source>A new version is downloaded over https only.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新版本只通过 https 下载。</translation>
    </message>
    <message>
        <source>A part of the file is missing: {name}.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>文件缺少一部分：{name}。</translation>
    </message>
    <message>
        <source>A prompt goes into the message field, where you can change it before you send it.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>提示词会放入消息框，发送前可以修改。</translation>
    </message>
    <message>
        <source>A recording must be one row of finite samples.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>录音必须是一列有限的采样值。</translation>
    </message>
    <message>
        <source>A reply is being written in another conversation. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>另一个对话正在生成回复。请等待其完成，或将其停止。</translation>
    </message>
    <message>
        <source>A reply is being written. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>正在生成回复。请等待完成或停止它。</translation>
    </message>
    <message>
        <source>A saved voice is not sent to a server elsewhere.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>已保存的声音不会发送到远程服务器。</translation>
    </message>
    <message>
        <source>A server&apos;s address holds no password, no question mark and no hash. The key is asked for.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>服务器地址不能包含密码、问号或井号。密钥另行输入。</translation>
    </message>
    <message>
        <source>A server&apos;s address is like http://192.168.1.5:8000 or https://example.org/v1.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>服务器地址的形式如 http://192.168.1.5:8000 或 https://example.org/v1。</translation>
    </message>
    <message>
        <source>A server&apos;s name has up to 40 letters, digits, dots and dashes: {name} does not fit.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>服务器名称最多 40 个字母、数字、点和连字符：{name} 不符合。</translation>
    </message>
    <message>
        <source>A step of the engine failed: {kind}: {error}</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>引擎的一个步骤失败：{kind}：{error}</translation>
    </message>
    <message>
        <source>A system library for sound is missing ({error}). On Debian and Ubuntu: sudo apt-get install libpulse0</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>缺少声音所需的系统库（{error}）。在 Debian 和 Ubuntu 上：sudo apt-get install libpulse0</translation>
    </message>
    <message>
        <source>A token is one word of letters and digits, such as hf_... on your Hugging Face page.</source>
        <extracomment>engine/hub/token.py</extracomment>
        <translation>令牌是由字母和数字组成的一串字符，例如你的 Hugging Face 页面上的 hf_...。</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring, but the keyring cannot be opened.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>令牌已存储在系统钥匙串中，但无法打开钥匙串。</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>令牌已存储在系统钥匙串中。</translation>
    </message>
    <message>
        <source>A token is stored in {file}, which only you can read. No system keyring is available.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>令牌已存储在 {file} 中，只有你能读取。没有可用的系统钥匙串。</translation>
    </message>
    <message>
        <source>A voice needs a name and a recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声音需要名称和录音。</translation>
    </message>
    <message>
        <source>Above 1, tokens that already occurred become less likely.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>大于 1 时，已出现过的 token 概率会降低。</translation>
    </message>
    <message>
        <source>Access</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>访问</translation>
    </message>
    <message>
        <source>Accurate answers and reasoning, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>回答准确，支持思考，适合 16 GB 内存的电脑。</translation>
    </message>
    <message>
        <source>Accurate answers at the speed of a small model: 4 of 26 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>以小模型的速度给出准确回答：每个 token 激活 260 亿参数中的 40 亿。适合 32 GB 内存。</translation>
    </message>
    <message>
        <source>Accurate everyday answers in more than 100 languages, for machines with 8 to 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>以 100 多种语言准确回答日常问题，适合 8 到 16 GB 内存的电脑。</translation>
    </message>
    <message>
        <source>Accurate long answers, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>准确的长篇回答，适合 32 GB 高速内存。</translation>
    </message>
    <message>
        <source>Active requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>活动请求</translation>
    </message>
    <message>
        <source>Add</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>添加</translation>
    </message>
    <message>
        <source>Add a fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>添加事实</translation>
    </message>
    <message>
        <source>Add a fact, and press Enter</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>输入事实，然后按 Enter 键</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <extracomment>app/gui/libraries/pane.py, app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>添加文件夹</translation>
    </message>
    <message>
        <source>Add a folder of documents…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>添加文档文件夹…</translation>
    </message>
    <message>
        <source>Add a model folder</source>
        <extracomment>app/gui/chat/pane.py, app/gui/model_box.py, app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>添加模型文件夹</translation>
    </message>
    <message>
        <source>Add a model folder…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>添加模型文件夹…</translation>
    </message>
    <message>
        <source>Add a server</source>
        <extracomment>app/gui/models/pane.py, app/gui/models/remote_form.py</extracomment>
        <translation>添加服务器</translation>
    </message>
    <message>
        <source>Add an MCP server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>添加 MCP 服务器</translation>
    </message>
    <message>
        <source>Add audio files</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>添加音频文件</translation>
    </message>
    <message>
        <source>Add files</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>添加文件</translation>
    </message>
    <message>
        <source>Add files…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>添加文件…</translation>
    </message>
    <message>
        <source>Add from JSON</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>从 JSON 添加</translation>
    </message>
    <message>
        <source>Add server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>添加服务器</translation>
    </message>
    <message>
        <source>Add tools…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>添加工具…</translation>
    </message>
    <message>
        <source>Added from {folder}: {models}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>已从 {folder} 添加：{models}。</translation>
    </message>
    <message>
        <source>Added: {names}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>已添加：{names}。</translation>
    </message>
    <message>
        <source>Added: {names}. Left out: {fields}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>已添加：{names}。已忽略：{fields}。</translation>
    </message>
    <message>
        <source>Address</source>
        <extracomment>app/gui/models/remote_form.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>地址</translation>
    </message>
    <message>
        <source>Address of the search</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>搜索服务地址</translation>
    </message>
    <message>
        <source>Adds what the file contains. Settings with the same name are replaced.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>添加文件中的内容。同名设置会被替换。</translation>
    </message>
    <message>
        <source>All</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>全部</translation>
    </message>
    <message>
        <source>All files of {model} are intact.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} 的所有文件均完好。</translation>
    </message>
    <message>
        <source>All pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>所有页面</translation>
    </message>
    <message>
        <source>Allow</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>允许</translation>
    </message>
    <message>
        <source>Allow in this conversation</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>在此对话中允许</translation>
    </message>
    <message>
        <source>Allow once</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>允许一次</translation>
    </message>
    <message>
        <source>Allow {tool}?</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>允许 {tool}？</translation>
    </message>
    <message>
        <source>Allowed web origins (CORS)</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>允许的网页来源 (CORS)</translation>
    </message>
    <message>
        <source>Also available as</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>其他版本</translation>
    </message>
    <message>
        <source>Always</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>始终</translation>
    </message>
    <message>
        <source>Always allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>始终允许</translation>
    </message>
    <message>
        <source>Among how many devices a text model is split, which compute it together. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>将文本模型拆分到多少个设备上共同计算。适用于之后加载的模型。</translation>
    </message>
    <message>
        <source>An audiobook is written as {kinds}, not as {ending}.</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>有声书可写为 {kinds}，不能写为 {ending}。</translation>
    </message>
    <message>
        <source>Analyzing the recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>正在分析录音。</translation>
    </message>
    <message>
        <source>Another name</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>其他名称</translation>
    </message>
    <message>
        <source>Another process is making this audiobook now: {folder}.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>另一个进程正在制作此有声书：{folder}。</translation>
    </message>
    <message>
        <source>Answers next: {models}.</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>接下来回答：{models}。</translation>
    </message>
    <message>
        <source>Answers the next message, too.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>也会回答下一条消息。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>外观</translation>
    </message>
    <message>
        <source>Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>重启 Grus 后生效。</translation>
    </message>
    <message>
        <source>Architecture</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>架构</translation>
    </message>
    <message>
        <source>Arguments</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>参数</translation>
    </message>
    <message>
        <source>Ask</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>询问</translation>
    </message>
    <message>
        <source>Ask about images: a vision model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>询问图像：视觉模型。</translation>
    </message>
    <message>
        <source>Ask anything</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>有问题，尽管问</translation>
    </message>
    <message>
        <source>Ask in Chat</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>在聊天中提问</translation>
    </message>
    <message>
        <source>Ask your documents</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>向您的文档提问</translation>
    </message>
    <message>
        <source>Asking the server for its models.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>正在向服务器查询其模型。</translation>
    </message>
    <message>
        <source>Asking the tool servers.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>正在询问工具服务器。</translation>
    </message>
    <message>
        <source>Asking {name} where to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>正在询问 {name} 在何处登录。</translation>
    </message>
    <message>
        <source>At most {n} models are compared.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>最多比较 {n} 个模型。</translation>
    </message>
    <message>
        <source>Attach</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>附加</translation>
    </message>
    <message>
        <source>Attach a resource</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>附加资源</translation>
    </message>
    <message>
        <source>Attach a resource…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>附加资源…</translation>
    </message>
    <message>
        <source>Attach files</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>添加附件</translation>
    </message>
    <message>
        <source>Attachments</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>附件</translation>
    </message>
    <message>
        <source>Audio</source>
        <extracomment>app/gui/listen/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>音频</translation>
    </message>
    <message>
        <source>Audiobooks are written through PyAV, which is missing here: pip install av</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>写有声书需要 PyAV，但此处没有：pip install av</translation>
    </message>
    <message>
        <source>Automatic</source>
        <extracomment>app/gui/viewmodels/settings.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>自动</translation>
    </message>
    <message>
        <source>Backend</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>后端</translation>
    </message>
    <message>
        <source>Backend and device apply to models loaded from now on. The memory limit applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>后端和设备适用于此后加载的模型。内存上限在 Grus 重启后生效。</translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Broad knowledge and quick answers: 3 of 35 billion parameters are active per token. For 32 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>知识广博，回答迅速：每个 token 激活 350 亿参数中的 30 亿。适合 32 GB 及以上内存。</translation>
    </message>
    <message>
        <source>CUDA pack {version} is installed.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>CUDA 包 {version} 已安装。</translation>
    </message>
    <message>
        <source>Calculator</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>计算器</translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>app/gui/chat/server_items.py, app/gui/models/remote_form.py, app/gui/read/pane.py, app/gui/settings/cuda_pack.py, app/gui/settings/pane.py, app/gui/settings/tools.py, app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>取消</translation>
    </message>
    <message>
        <source>Cancel editing</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>取消编辑</translation>
    </message>
    <message>
        <source>Cancel reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>取消读取</translation>
    </message>
    <message>
        <source>Cancel the selected request</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>取消所选请求</translation>
    </message>
    <message>
        <source>Caption</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>图注</translation>
    </message>
    <message>
        <source>Capture part of the screen</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>截取屏幕区域</translation>
    </message>
    <message>
        <source>Chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>章节</translation>
    </message>
    <message>
        <source>Chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>图表</translation>
    </message>
    <message>
        <source>Chat</source>
        <extracomment>app/gui/chat/actions.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>聊天</translation>
    </message>
    <message>
        <source>Chat with this model</source>
        <extracomment>app/gui/models/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>与此模型聊天</translation>
    </message>
    <message>
        <source>Chatterbox does not understand the instruction {words}. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox 不理解指令 {words}。{how}</translation>
    </message>
    <message>
        <source>Chatterbox has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox 没有声音 {name}。它有：{voices}。</translation>
    </message>
    <message>
        <source>Check for new versions of Grus when it starts?</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>启动时检查 Grus 的新版本吗？</translation>
    </message>
    <message>
        <source>Check for new versions when Grus starts</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>启动 Grus 时检查新版本</translation>
    </message>
    <message>
        <source>Check now</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>立即检查</translation>
    </message>
    <message>
        <source>Checking for a new version failed: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>检查新版本失败：{reason}。</translation>
    </message>
    <message>
        <source>Checking for a new version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>正在检查新版本。</translation>
    </message>
    <message>
        <source>Checking the keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>正在检查钥匙串。</translation>
    </message>
    <message>
        <source>Checking this machine.</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>正在检查本机。</translation>
    </message>
    <message>
        <source>Choose</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>选择</translation>
    </message>
    <message>
        <source>Choose a file</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>选择文件</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <extracomment>app/gui/read/watch.py, app/gui/settings/speculation.py, app/gui/settings/tools.py</extracomment>
        <translation>选择文件夹</translation>
    </message>
    <message>
        <source>Choose a folder for downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>选择存放已下载模型的文件夹</translation>
    </message>
    <message>
        <source>Choose a model first, in the menu above the conversation.</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>请先在对话上方的菜单中选择模型。</translation>
    </message>
    <message>
        <source>Choose a preset voice or a recording, not both.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>请选择预设声音或录音，不能同时选择。</translation>
    </message>
    <message>
        <source>Choose either a preset voice or a cloned one, not both.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py, engine/pipelines/speaking/spark.py</extracomment>
        <translation>请选择预设声音或克隆声音，不能同时选择。</translation>
    </message>
    <message>
        <source>Choose libraries…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>选择资料库…</translation>
    </message>
    <message>
        <source>Choose the folder of a draft model</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>选择草稿模型的文件夹</translation>
    </message>
    <message>
        <source>Choose the model</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Choose the reply to continue with.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>请选择要继续的回复。</translation>
    </message>
    <message>
        <source>Choose tools…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>选择工具…</translation>
    </message>
    <message>
        <source>Clean up dictation</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>整理听写文本</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/models/pane.py</extracomment>
        <translation>清除搜索</translation>
    </message>
    <message>
        <source>Click to name the speaker.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>单击可为说话人命名。</translation>
    </message>
    <message>
        <source>Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>点按以播放。</translation>
    </message>
    <message>
        <source>Clones a voice from a recording of a few seconds.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>用几秒钟的录音克隆声音。</translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>app/gui/chat/offer.py, app/gui/logview.py, app/gui/palette.py</extracomment>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Close the preview</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>关闭预览</translation>
    </message>
    <message>
        <source>Close the search</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>关闭搜索</translation>
    </message>
    <message>
        <source>Close this message</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>关闭此消息</translation>
    </message>
    <message>
        <source>Close window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>关闭窗口</translation>
    </message>
    <message>
        <source>Code</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/preview_panel.py, app/gui/viewmodels/read.py</extracomment>
        <translation>代码</translation>
    </message>
    <message>
        <source>Code and long chains of tool calls: 3 of 30 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>擅长代码和长链工具调用：每个 token 激活 300 亿参数中的 30 亿。适合 32 GB 内存。</translation>
    </message>
    <message>
        <source>Colours</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>颜色</translation>
    </message>
    <message>
        <source>Command or address</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>命令或地址</translation>
    </message>
    <message>
        <source>Command palette</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>Compare models</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>比较模型</translation>
    </message>
    <message>
        <source>Compute</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>硬件</translation>
    </message>
    <message>
        <source>Computes expressions.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>计算表达式。</translation>
    </message>
    <message>
        <source>Connect an agent</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>连接智能体</translation>
    </message>
    <message>
        <source>Connect from</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>连接自</translation>
    </message>
    <message>
        <source>Connect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>连接 {program}</translation>
    </message>
    <message>
        <source>Context</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>继续</translation>
    </message>
    <message>
        <source>Continue reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>继续读取</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>继续回答</translation>
    </message>
    <message>
        <source>Continue with the first reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>用第一个回复继续</translation>
    </message>
    <message>
        <source>Continue with the second reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>用第二个回复继续</translation>
    </message>
    <message>
        <source>Continue with the third reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>用第三个回复继续</translation>
    </message>
    <message>
        <source>Continue with this</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>用此回复继续</translation>
    </message>
    <message>
        <source>Conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/transcript.py</extracomment>
        <translation>对话</translation>
    </message>
    <message>
        <source>Conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>对话</translation>
    </message>
    <message>
        <source>Conversations, facts, results, voices and settings as one file. Server keys, the Hugging Face token and models stay here.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>将对话、事实、结果、声音和设置保存为一个文件。服务器密钥、Hugging Face 令牌和模型保留在本机。</translation>
    </message>
    <message>
        <source>Conversations, results and voices</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>对话、结果和声音</translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py</extracomment>
        <translation>已复制。</translation>
    </message>
    <message>
        <source>Copy</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/dictation_key.py, app/gui/logview.py</extracomment>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy as spoken</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>复制原话</translation>
    </message>
    <message>
        <source>Copy snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>复制代码片段</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <extracomment>app/gui/server/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>复制代码</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>复制密钥</translation>
    </message>
    <message>
        <source>Copy the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>复制最后一段代码</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>复制消息</translation>
    </message>
    <message>
        <source>Copy the region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>复制区域</translation>
    </message>
    <message>
        <source>Copy the text</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>复制文本</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>Could not delete: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>无法删除：{error}。</translation>
    </message>
    <message>
        <source>Could not save: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>无法保存：{error}。</translation>
    </message>
    <message>
        <source>Create key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>创建密钥</translation>
    </message>
    <message>
        <source>Creates a voice from a description.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>根据描述生成声音。</translation>
    </message>
    <message>
        <source>Creative</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>创意</translation>
    </message>
    <message>
        <source>Damaged: {files}. Delete {model} and download it again.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>已损坏：{files}。请删除 {model} 并重新下载。</translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>深色</translation>
    </message>
    <message>
        <source>Date and time</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>日期和时间</translation>
    </message>
    <message>
        <source>Default</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/speak/pane.py</extracomment>
        <translation>默认</translation>
    </message>
    <message>
        <source>Default text size</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>默认文字大小</translation>
    </message>
    <message>
        <source>Defaults of this model</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>此模型的默认值</translation>
    </message>
    <message>
        <source>Delete</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete all</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>全部删除</translation>
    </message>
    <message>
        <source>Delete all conversations, results, voices, files and settings of Grus? This cannot be undone.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>要删除 Grus 的所有对话、结果、声音、文件和设置吗？此操作无法撤销。</translation>
    </message>
    <message>
        <source>Delete all now</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>立即全部删除</translation>
    </message>
    <message>
        <source>Delete the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>删除对话</translation>
    </message>
    <message>
        <source>Delete the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>删除密钥</translation>
    </message>
    <message>
        <source>Delete the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>删除消息</translation>
    </message>
    <message>
        <source>Delete the model</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>删除模型</translation>
    </message>
    <message>
        <source>Delete the preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>删除预设</translation>
    </message>
    <message>
        <source>Delete the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>删除声音</translation>
    </message>
    <message>
        <source>Delete this fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>删除这条事实</translation>
    </message>
    <message>
        <source>Describe the voice: this VoiceDesign model makes one from instructions.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>请描述声音：此 VoiceDesign 模型根据指令生成声音。</translation>
    </message>
    <message>
        <source>Detect language</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>检测语言</translation>
    </message>
    <message>
        <source>Device</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>设备</translation>
    </message>
    <message>
        <source>Dictate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>听写</translation>
    </message>
    <message>
        <source>Dictate and talk: a speech recognition model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>听写和语音对话：语音识别模型。</translation>
    </message>
    <message>
        <source>Dictating. Press again to stop.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>正在听写。再按一次停止。</translation>
    </message>
    <message>
        <source>Dictation</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>听写</translation>
    </message>
    <message>
        <source>Dictation into other apps needs a desktop. In a message, Ctrl+Shift+V dictates.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>向其他应用听写需要桌面环境。在消息中按 Ctrl+Shift+V 即可听写。</translation>
    </message>
    <message>
        <source>Dictation key</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>听写键</translation>
    </message>
    <message>
        <source>Discard</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>放弃</translation>
    </message>
    <message>
        <source>Disconnect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>断开 {program}</translation>
    </message>
    <message>
        <source>Disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Document reading (OCR)</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>文档识别 (OCR)</translation>
    </message>
    <message>
        <source>Document search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>文档搜索</translation>
    </message>
    <message>
        <source>Documents</source>
        <extracomment>app/gui/read/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>文档</translation>
    </message>
    <message>
        <source>Documents that could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>无法读取的文档</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>不允许</translation>
    </message>
    <message>
        <source>Done</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>完成</translation>
    </message>
    <message>
        <source>Download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/settings/cuda_pack.py, app/gui/settings/updates.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>下载</translation>
    </message>
    <message>
        <source>Download a model first.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>请先下载一个模型。</translation>
    </message>
    <message>
        <source>Download, pause or resume</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>下载、暂停或继续</translation>
    </message>
    <message>
        <source>Downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>已下载的模型</translation>
    </message>
    <message>
        <source>Downloading</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>正在下载</translation>
    </message>
    <message>
        <source>Downloading {model} from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>正在从 Hugging Face 下载 {model}。</translation>
    </message>
    <message>
        <source>Downloading {model}: {done} of {total}, about {left} s left.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>正在下载 {model}：{done}/{total}，约剩 {left} 秒。</translation>
    </message>
    <message>
        <source>Downloading: {done} of {total}</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py, app/gui/viewmodels/updates.py</extracomment>
        <translation>正在下载：{done} / {total}</translation>
    </message>
    <message>
        <source>Draft model</source>
        <extracomment>app/gui/settings/speculation.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Draft tokens from</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>草稿 token 来源</translation>
    </message>
    <message>
        <source>Draw a box around the area to read. Press Esc to cancel.</source>
        <extracomment>app/gui/read/snip.py</extracomment>
        <translation>请框选要读取的区域。按 Esc 取消。</translation>
    </message>
    <message>
        <source>Drawn at {drawn} instead of {wanted} dots an inch, because the page is so large.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>页面过大，以 {drawn} dpi 而非 {wanted} dpi 绘制。</translation>
    </message>
    <message>
        <source>Drop a folder of documents here. It is read and searched on this machine, and Chat answers from it and says where.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>将文档文件夹拖到此处。文档在本机读取和搜索，聊天会据此回答并注明出处。</translation>
    </message>
    <message>
        <source>Drop a recording here, or record from the microphone and read along.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>将录音拖到此处，或用麦克风录音并同步查看文字。</translation>
    </message>
    <message>
        <source>Drop documents, photos or scans here, paste an image, or capture part of the screen.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>将文档、照片或扫描件拖到此处，粘贴图像，或截取屏幕区域。</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>复制副本</translation>
    </message>
    <message>
        <source>Duplicate the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>复制对话副本</translation>
    </message>
    <message>
        <source>Each query goes to {address}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>每个查询都会发送到 {address}。</translation>
    </message>
    <message>
        <source>Earlier</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>更早</translation>
    </message>
    <message>
        <source>Edit</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>编辑消息</translation>
    </message>
    <message>
        <source>Editing a message. The original stays as another branch.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>正在编辑消息。原消息保留在另一个分支中。</translation>
    </message>
    <message>
        <source>Editing the reply.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>正在编辑回复。</translation>
    </message>
    <message>
        <source>Embedding</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>嵌入</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s defaults.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>留空则使用模型的默认值。</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s own defaults. Settings of a conversation take precedence.</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>留空则使用模型的默认值。对话的设置优先。</translation>
    </message>
    <message>
        <source>End</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>结束</translation>
    </message>
    <message>
        <source>End Talk</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>结束语音对话</translation>
    </message>
    <message>
        <source>End Talk (Esc)</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>结束语音对话 (Esc)</translation>
    </message>
    <message>
        <source>Enter a command, such as npx -y @modelcontextprotocol/server-memory, or an address.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>请输入命令（例如 npx -y @modelcontextprotocol/server-memory）或地址。</translation>
    </message>
    <message>
        <source>Enter a share like 70 %, or a size like 12 GB.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>请输入比例（如 70 %）或大小（如 12 GB）。</translation>
    </message>
    <message>
        <source>Enter the name of a model, or choose a folder. Until then nothing is drafted.</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>请输入模型名称或选择文件夹。在此之前不会生成草稿。</translation>
    </message>
    <message>
        <source>Enter tool result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>输入工具结果</translation>
    </message>
    <message>
        <source>Errors and crashes of Grus on this machine. The log contains nothing that you write, say or read, and is never sent anywhere.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Grus 在本机上的错误和崩溃记录。日志不包含你写的、说的或读的任何内容，也绝不会发送到任何地方。</translation>
    </message>
    <message>
        <source>Errors and crashes, stored on this machine. Export the log to get help.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>错误和崩溃记录，存储在本机上。如需帮助，请导出日志。</translation>
    </message>
    <message>
        <source>Even broader knowledge and quick answers: 3 of 80 billion parameters are active per token. For 80 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>知识更广博，回答迅速：每个 token 激活 800 亿参数中的 30 亿。适合 80 GB 及以上内存。</translation>
    </message>
    <message>
        <source>Everyday questions in more than 100 languages, for machines with 8 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>以 100 多种语言回答日常问题，适合 8 GB 内存的电脑。</translation>
    </message>
    <message>
        <source>Everything</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>全部</translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>所有内容均已重新保存。</translation>
    </message>
    <message>
        <source>Everything stays on this machine</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>所有数据仅保留在本机</translation>
    </message>
    <message>
        <source>Everything was deleted. Models are still on this machine.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>已全部删除。模型仍保留在本机。</translation>
    </message>
    <message>
        <source>Export</source>
        <extracomment>app/gui/chat/actions.py, app/gui/listen/pane.py, app/gui/logview.py, app/gui/read/pane.py</extracomment>
        <translation>导出</translation>
    </message>
    <message>
        <source>Export all</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>全部导出</translation>
    </message>
    <message>
        <source>Export all conversations</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>导出所有对话</translation>
    </message>
    <message>
        <source>Export and import</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>导出和导入</translation>
    </message>
    <message>
        <source>Export as</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>导出为</translation>
    </message>
    <message>
        <source>Export as JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>导出为 JSON</translation>
    </message>
    <message>
        <source>Export as Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>导出为 Markdown</translation>
    </message>
    <message>
        <source>Export as PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>导出为 PDF</translation>
    </message>
    <message>
        <source>Export everything</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>全部导出</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>导出对话</translation>
    </message>
    <message>
        <source>Export the log</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>导出日志</translation>
    </message>
    <message>
        <source>Fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>事实</translation>
    </message>
    <message>
        <source>Fact memory</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>事实记忆</translation>
    </message>
    <message>
        <source>Female voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>女声</translation>
    </message>
    <message>
        <source>File reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>文件读取器</translation>
    </message>
    <message>
        <source>Files</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>文件</translation>
    </message>
    <message>
        <source>Filter this list</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>筛选此列表</translation>
    </message>
    <message>
        <source>Find</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>查找</translation>
    </message>
    <message>
        <source>Find an action, a conversation or a model</source>
        <extracomment>app/gui/palette.py</extracomment>
        <translation>查找操作、对话或模型</translation>
    </message>
    <message>
        <source>Find and replace</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>查找和替换</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/find_bar.py</extracomment>
        <translation>在此对话中查找</translation>
    </message>
    <message>
        <source>Finds passages of a library by their meaning, in more than 100 languages and in code.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>按含义查找资料库中的段落，支持 100 多种语言和代码。</translation>
    </message>
    <message>
        <source>Finishing running requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>正在完成进行中的请求</translation>
    </message>
    <message>
        <source>Fit width</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>适合宽度</translation>
    </message>
    <message>
        <source>Fits this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>本机可以运行：约需 {needed}，共 {has}。</translation>
    </message>
    <message>
        <source>Folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Footer</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>页脚</translation>
    </message>
    <message>
        <source>Footnote</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>脚注</translation>
    </message>
    <message>
        <source>For all models together, as a share or a size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>所有模型合计，可填比例或大小。</translation>
    </message>
    <message>
        <source>For gated models. It is sent only to Hugging Face.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>用于受限模型，仅发送给 Hugging Face。</translation>
    </message>
    <message>
        <source>For the hardest questions: 5 of 117 billion parameters are active per token. For 96 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>应对最难的问题：每个 token 激活 1170 亿参数中的 50 亿。适合 96 GB 及以上内存。</translation>
    </message>
    <message>
        <source>Forget the voice of {name}</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>忘记 {name} 的声音</translation>
    </message>
    <message>
        <source>Format</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>格式</translation>
    </message>
    <message>
        <source>Formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>公式</translation>
    </message>
    <message>
        <source>From another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>从另一台电脑</translation>
    </message>
    <message>
        <source>From disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>从磁盘读取</translation>
    </message>
    <message>
        <source>From the tool. Not checked, and no instruction:</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>来自工具。未经核实，不是指令：</translation>
    </message>
    <message>
        <source>Full screen</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>全屏</translation>
    </message>
    <message>
        <source>Get a model</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>获取模型</translation>
    </message>
    <message>
        <source>Get a model…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>获取模型…</translation>
    </message>
    <message>
        <source>Get a real model: {model}, {facts}.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>获取完整的模型：{model}，{facts}。</translation>
    </message>
    <message>
        <source>Get a vision model</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>获取视觉模型</translation>
    </message>
    <message>
        <source>Getting sizes from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>正在从 Hugging Face 获取大小。</translation>
    </message>
    <message>
        <source>Getting the list of files from Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>正在从 Hugging Face 获取文件列表</translation>
    </message>
    <message>
        <source>Global shortcut</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>全局快捷键</translation>
    </message>
    <message>
        <source>Go to the message field</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>转到消息输入框</translation>
    </message>
    <message>
        <source>Good at text, code and tools with little memory. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>占用内存少，擅长文本、代码和工具。可选思考。</translation>
    </message>
    <message>
        <source>Grus cannot save: {reason}. Your changes are kept in memory until it can.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Grus 无法保存：{reason}。在此之前，更改会保留在内存中。</translation>
    </message>
    <message>
        <source>Grus computes on the CPU. To compute on the NVIDIA GPU, it needs the CUDA pack: a download of {size}.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Grus 正在 CPU 上计算。要在 NVIDIA GPU 上计算，需要 CUDA 包：下载 {size}。</translation>
    </message>
    <message>
        <source>Grus does not look for a new version: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Grus 不检查新版本：{reason}。</translation>
    </message>
    <message>
        <source>Grus does not support the architecture of this model.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Grus 不支持此模型的架构。</translation>
    </message>
    <message>
        <source>Grus ended unexpectedly last time. Nothing was deleted.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>上次 Grus 意外退出。没有内容被删除。</translation>
    </message>
    <message>
        <source>Grus has no accounts and sends nothing on its own. All of this is stored only on this machine.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus 没有账户，也不会自行发送任何数据。以下内容仅存储在本机。</translation>
    </message>
    <message>
        <source>Grus listens again when it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Grus 说完后会继续聆听。</translation>
    </message>
    <message>
        <source>Grus never changes files in these folders.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus 绝不会更改这些文件夹中的文件。</translation>
    </message>
    <message>
        <source>Grus was started with --offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>Grus 以 --offline 启动</translation>
    </message>
    <message>
        <source>Grus was told to work offline</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Grus 被设置为离线工作</translation>
    </message>
    <message>
        <source>Grus {version} is available.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} 可用。</translation>
    </message>
    <message>
        <source>Grus {version} is the newest version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} 已是最新版本。</translation>
    </message>
    <message>
        <source>HTML</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>HTML</translation>
    </message>
    <message>
        <source>Have replies and texts read aloud: a text-to-speech model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>朗读回复和文本：语音合成模型。</translation>
    </message>
    <message>
        <source>Header</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>页眉</translation>
    </message>
    <message>
        <source>Heading</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>标题</translation>
    </message>
    <message>
        <source>Headphones</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>耳机</translation>
    </message>
    <message>
        <source>Hide reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>隐藏思考过程</translation>
    </message>
    <message>
        <source>Hide the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>隐藏调用</translation>
    </message>
    <message>
        <source>Hide tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>隐藏工具</translation>
    </message>
    <message>
        <source>High</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>高</translation>
    </message>
    <message>
        <source>High contrast</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>高对比度</translation>
    </message>
    <message>
        <source>History</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>历史记录</translation>
    </message>
    <message>
        <source>Hold it, speak, and let it go: the text appears at the cursor, in any app. Clear the field for none.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>按住说话，松开后文字会出现在任何应用的光标处。清空此栏则不使用。</translation>
    </message>
    <message>
        <source>How many threads of the CPU compute without mains power. Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>未接通电源时用于计算的 CPU 线程数。重启 Grus 后生效。</translation>
    </message>
    <message>
        <source>How many times a text model is loaded, on a device each, for many requests at once. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>文本模型加载的次数，每次使用一个设备，用于同时处理大量请求。适用于此后加载的模型。</translation>
    </message>
    <message>
        <source>How much of the disk may hold weights that were prepared for this CPU. Such a model opens at once the next time.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>为此 CPU 准备好的权重最多可占用多少磁盘空间。这样的模型下次会立即打开。</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>Hugging Face answered with status {status}. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face 返回状态 {status}。请稍后重试。</translation>
    </message>
    <message>
        <source>Hugging Face cannot be reached. Check the network, then try again.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>无法连接 Hugging Face。请检查网络后重试。</translation>
    </message>
    <message>
        <source>Hugging Face does not know your token (status 401). Make a new one on its page, then {advice}. `grus token remove` continues without one.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face 无法识别你的令牌（状态 401）。请在其页面上新建令牌，然后{advice}。`grus token remove` 可在没有令牌的情况下继续。</translation>
    </message>
    <message>
        <source>Hugging Face has no repository {repo}, or it is private. For a private one, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face 上没有仓库 {repo}，或该仓库为私有。如为私有，请{advice}。</translation>
    </message>
    <message>
        <source>Hugging Face is not asked: {why}.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>不会访问 Hugging Face：{why}。</translation>
    </message>
    <message>
        <source>Hugging Face refused access to {repo} (status {status}). To be let in, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face 拒绝访问 {repo}（状态 {status}）。要获得访问权限，请{advice}。</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in some minutes.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face 暂不接受更多请求（状态 429）。请几分钟后重试。</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in {n} s.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face 暂不接受更多请求（状态 429）。请在 {n} 秒后重试。</translation>
    </message>
    <message>
        <source>Hugging Face token</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Hugging Face 令牌</translation>
    </message>
    <message>
        <source>Import an archive</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>导入存档</translation>
    </message>
    <message>
        <source>Import conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>导入对话</translation>
    </message>
    <message>
        <source>Imported</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>已导入</translation>
    </message>
    <message>
        <source>Importing: {done} of {total} conversations.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>正在导入:{total} 个对话中的 {done} 个。</translation>
    </message>
    <message>
        <source>In addition to the system&apos;s text size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>在系统文字大小的基础上调整。</translation>
    </message>
    <message>
        <source>In memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>已在内存</translation>
    </message>
    <message>
        <source>In tokens. At this limit the model stops reasoning and answers.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>以 token 计。达到上限后，模型停止思考并作答。</translation>
    </message>
    <message>
        <source>In tokens. Empty: up to the context length.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>以 token 计。留空：直到上下文长度。</translation>
    </message>
    <message>
        <source>Included with Grus</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Grus 自带</translation>
    </message>
    <message>
        <source>Incomplete</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>不完整</translation>
    </message>
    <message>
        <source>Install</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>安装</translation>
    </message>
    <message>
        <source>Install and restart</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>安装并重新启动</translation>
    </message>
    <message>
        <source>Install it as you installed Grus, for example: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>请用安装 Grus 时的方式安装，例如：{command}</translation>
    </message>
    <message>
        <source>Instructions</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pane.py</extracomment>
        <translation>指令</translation>
    </message>
    <message>
        <source>Interrupt</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>打断</translation>
    </message>
    <message>
        <source>Interrupt the voice</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>打断语音</translation>
    </message>
    <message>
        <source>It does not contain server keys, the Hugging Face token or models.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>其中不含服务器密钥、Hugging Face 令牌和模型。</translation>
    </message>
    <message>
        <source>It has changed since you allowed it.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>自您允许后它已更改。</translation>
    </message>
    <message>
        <source>It is not clear which way up this page is. Turn it if the text makes no sense.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>此页面的方向不明确。如果文本不通顺，请旋转页面。</translation>
    </message>
    <message>
        <source>JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>JSON</translation>
    </message>
    <message>
        <source>Jump to the latest message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>跳到最新消息</translation>
    </message>
    <message>
        <source>Jump to the latest message (Ctrl+End)</source>
        <extracomment>app/gui/chat/transcript.py</extracomment>
        <translation>跳到最新消息 (Ctrl+End)</translation>
    </message>
    <message>
        <source>Key</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>密钥</translation>
    </message>
    <message>
        <source>Key, if it needs one</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>密钥（如果需要）</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <extracomment>app/gui/palette.py, app/gui/window.py</extracomment>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Keys</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>密钥</translation>
    </message>
    <message>
        <source>Known voices</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>已知的声音</translation>
    </message>
    <message>
        <source>Knows more than its speed suggests: 1.5 of 8 billion parameters are active per token. For 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>速度快，知识却不少：每个 token 激活 80 亿参数中的 15 亿。适合 16 GB 内存。</translation>
    </message>
    <message>
        <source>Knows the voices that you named in the next recording, beside a model that tells speakers apart.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>与区分说话人的模型一起使用，在下一段录音中认出您命名过的声音。</translation>
    </message>
    <message>
        <source>Kokoro does not speak {language} here. It speaks: {known}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro 在这里不支持 {language}。支持：{known}。</translation>
    </message>
    <message>
        <source>Kokoro has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro 没有声音 {name}。可用：{voices}。</translation>
    </message>
    <message>
        <source>Kokoro has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro 使用自带的声音，不支持克隆。如需克隆，请选择 Qwen3-TTS Base 模型。</translation>
    </message>
    <message>
        <source>Kokoro needs the program espeak-ng, which tells how words are pronounced. Install it (Debian: apt install espeak-ng, macOS: brew install espeak-ng), or choose another voice.</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>Kokoro 需要程序 espeak-ng 来确定单词的读音。请安装它（Debian：apt install espeak-ng，macOS：brew install espeak-ng），或选择其他声音。</translation>
    </message>
    <message>
        <source>Kokoro takes no instructions. Its voices differ in tone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro 不接受指令。不同的声音有不同的语气。</translation>
    </message>
    <message>
        <source>Language</source>
        <extracomment>app/gui/settings/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>语言</translation>
    </message>
    <message>
        <source>Larger text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>放大文字</translation>
    </message>
    <message>
        <source>Leave empty if the server needs none</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>如果服务器不需要，请留空</translation>
    </message>
    <message>
        <source>Leave out tokens less likely than this share of the most likely one.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>排除概率低于最高概率此比例的 token。</translation>
    </message>
    <message>
        <source>Left out, because they are malformed: {names}.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>因格式有误而略过:{names}。</translation>
    </message>
    <message>
        <source>Level</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>音量</translation>
    </message>
    <message>
        <source>Libraries</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/libraries/pane.py, app/gui/pane.py</extracomment>
        <translation>资料库</translation>
    </message>
    <message>
        <source>Licence</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Line {number} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>第 {number} 行的格式不是：词 = 读法。</translation>
    </message>
    <message>
        <source>Line {number} of {path} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{path} 的第 {number} 行不是“词 = 读法”的形式。</translation>
    </message>
    <message>
        <source>List</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>列表</translation>
    </message>
    <message>
        <source>Listen</source>
        <extracomment>app/gui/listen/pane.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>聆听</translation>
    </message>
    <message>
        <source>Listening</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/listen.py</extracomment>
        <translation>正在聆听</translation>
    </message>
    <message>
        <source>Load</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>加载</translation>
    </message>
    <message>
        <source>Load or unload</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>加载或卸载</translation>
    </message>
    <message>
        <source>Loading models</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <source>Loading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py, app/window_engine.py, app/window_reply.py</extracomment>
        <translation>正在加载 {model}。</translation>
    </message>
    <message>
        <source>Location</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>位置</translation>
    </message>
    <message>
        <source>Log</source>
        <extracomment>app/gui/logview.py, app/gui/server/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>日志</translation>
    </message>
    <message>
        <source>Long texts, tools and code, for machines with 16 to 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>长文本、工具和代码，适合 16 到 24 GB 内存的电脑。</translation>
    </message>
    <message>
        <source>Looking for documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>正在查找文档</translation>
    </message>
    <message>
        <source>Looking for models on this machine.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>正在查找本机上的模型。</translation>
    </message>
    <message>
        <source>Low</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>低</translation>
    </message>
    <message>
        <source>Low confidence. Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>置信度低。点按以播放。</translation>
    </message>
    <message>
        <source>Low confidence: {why}</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>置信度低：{why}</translation>
    </message>
    <message>
        <source>Make an audiobook</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>制作有声书</translation>
    </message>
    <message>
        <source>Male voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>男声</translation>
    </message>
    <message>
        <source>Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>Match case</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>区分大小写</translation>
    </message>
    <message>
        <source>Maximum length</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>最大长度</translation>
    </message>
    <message>
        <source>Medium</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>中</translation>
    </message>
    <message>
        <source>Memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>内存</translation>
    </message>
    <message>
        <source>Memory</source>
        <comment>facts</comment>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>记忆</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>内存上限</translation>
    </message>
    <message>
        <source>Merge with the next segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>与下一片段合并</translation>
    </message>
    <message>
        <source>Message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>消息</translation>
    </message>
    <message>
        <source>Min P</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Min P</translation>
    </message>
    <message>
        <source>Model</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/model_box.py, app/gui/models/remote_form.py, app/gui/server/pane.py</extracomment>
        <translation>模型</translation>
    </message>
    <message>
        <source>Model folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Model for this conversation</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>此对话的模型</translation>
    </message>
    <message>
        <source>Model lists</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>模型列表</translation>
    </message>
    <message>
        <source>Model to use</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>要使用的模型</translation>
    </message>
    <message>
        <source>Models</source>
        <extracomment>app/gui/models/pane.py, app/gui/pane.py</extracomment>
        <translation>模型</translation>
    </message>
    <message>
        <source>Models on this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>本机上的模型</translation>
    </message>
    <message>
        <source>Models run on {backend}, {device}, and may use {allowed} of {memory}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>模型运行于 {backend}、{device}，最多可用 {allowed}，共 {memory}。</translation>
    </message>
    <message>
        <source>Models, shared with other programs</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>模型（与其他程序共享）</translation>
    </message>
    <message>
        <source>Move to</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>移至</translation>
    </message>
    <message>
        <source>Multi-token prediction (MTP)</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>多 token 预测 (MTP)</translation>
    </message>
    <message>
        <source>N-grams of the conversation</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>对话中的 n-gram</translation>
    </message>
    <message>
        <source>NVIDIA GPU</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>NVIDIA GPU</translation>
    </message>
    <message>
        <source>Name</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/models/remote_form.py, app/gui/settings/tools.py</extracomment>
        <translation>名称</translation>
    </message>
    <message>
        <source>Name of the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声音名称</translation>
    </message>
    <message>
        <source>Name to save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>要保存的预设名称</translation>
    </message>
    <message>
        <source>Names and terms, separated by commas. Listen, Talk and dictation spell them like this.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>名称和术语，用逗号分隔。聆听、语音对话和听写会按此拼写。</translation>
    </message>
    <message>
        <source>Needs about {needed} of {has}. Its experts can stay in the file: replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>约需 {needed}，共 {has}。专家可以留在文件中：回复速度取决于磁盘。</translation>
    </message>
    <message>
        <source>Needs about {needed}; models may use {has}. Raise the memory limit in Settings.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>约需 {needed}，而模型可用 {has}。请在“设置”中提高内存上限。</translation>
    </message>
    <message>
        <source>Network</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>网络</translation>
    </message>
    <message>
        <source>Never</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>从不</translation>
    </message>
    <message>
        <source>Never allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>从不允许</translation>
    </message>
    <message>
        <source>New conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py, app/gui/chat/pane.py</extracomment>
        <translation>新建对话</translation>
    </message>
    <message>
        <source>New conversation in this project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>在此项目中新建对话</translation>
    </message>
    <message>
        <source>New line</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>换行</translation>
    </message>
    <message>
        <source>New project</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/projects.py</extracomment>
        <translation>新建项目</translation>
    </message>
    <message>
        <source>New project…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>新建项目…</translation>
    </message>
    <message>
        <source>New voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>新建声音</translation>
    </message>
    <message>
        <source>Next branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>下一个分支</translation>
    </message>
    <message>
        <source>Next conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>下一个对话</translation>
    </message>
    <message>
        <source>Next document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>下一个文档</translation>
    </message>
    <message>
        <source>Next library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>下一个资料库</translation>
    </message>
    <message>
        <source>Next match (Enter)</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>下一个匹配项 (Enter)</translation>
    </message>
    <message>
        <source>Next message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>下一条消息</translation>
    </message>
    <message>
        <source>Next page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>下一页</translation>
    </message>
    <message>
        <source>Next recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>下一段录音</translation>
    </message>
    <message>
        <source>Next region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>下一个区域</translation>
    </message>
    <message>
        <source>Next version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>下一个版本</translation>
    </message>
    <message>
        <source>Next version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>预览的下一个版本</translation>
    </message>
    <message>
        <source>No active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>没有活动请求。</translation>
    </message>
    <message>
        <source>No errors so far.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>目前没有错误。</translation>
    </message>
    <message>
        <source>No loudspeaker was found. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>未找到扬声器。请连接后重新播放。</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>未找到麦克风。请连接后重试。</translation>
    </message>
    <message>
        <source>No model is loaded. Grus uses {whole}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>未加载模型。Grus 占用 {whole}。</translation>
    </message>
    <message>
        <source>No model that reads images is installed. Download one in Models, for example PaddlePaddle/PaddleOCR-VL.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>未安装可读取图像的模型。请在“模型”中下载，例如 PaddlePaddle/PaddleOCR-VL。</translation>
    </message>
    <message>
        <source>No model that tells speakers apart is installed. Download one in Models, for example mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>没有安装可区分说话人的模型。请在“模型”中下载一个，例如 mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32。</translation>
    </message>
    <message>
        <source>No model yet</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>尚无模型</translation>
    </message>
    <message>
        <source>No model yet. Recommended lists some that fit.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>尚无模型。“推荐”中列出了适合本机的模型。</translation>
    </message>
    <message>
        <source>No places were found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>模型输出中未找到位置信息。</translation>
    </message>
    <message>
        <source>No project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>无项目</translation>
    </message>
    <message>
        <source>No results for {words} on Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>在 Hugging Face 上没有找到“{words}”。</translation>
    </message>
    <message>
        <source>No results for {words}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>没有与 {words} 匹配的结果。</translation>
    </message>
    <message>
        <source>No results.</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/palette.py, app/gui/viewmodels/chat/find.py</extracomment>
        <translation>无结果。</translation>
    </message>
    <message>
        <source>No search and no downloads, and the server does not fetch images. Models on this machine keep working.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>不搜索、不下载，服务器也不获取图像。本机上的模型可继续使用。</translation>
    </message>
    <message>
        <source>No shortcut</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>无快捷键</translation>
    </message>
    <message>
        <source>No speech recognition model is installed. Download one in Models, for example UsefulSensors/moonshine-base.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>未安装语音识别模型。请在“模型”中下载，例如 UsefulSensors/moonshine-base。</translation>
    </message>
    <message>
        <source>No table was found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>模型输出中未找到表格。</translation>
    </message>
    <message>
        <source>No table was found in {title}. Choose another format.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>在 {title} 中未找到表格。请选择其他格式。</translation>
    </message>
    <message>
        <source>No text was found in {name}.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>在 {name} 中未找到文字。</translation>
    </message>
    <message>
        <source>No text-to-speech model is installed. Download one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>未安装语音合成模型。请在“模型”中下载，例如 Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice。</translation>
    </message>
    <message>
        <source>No tool server that is on has a prompt.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>已启用的工具服务器都没有提示词。</translation>
    </message>
    <message>
        <source>No tool server that is on has a resource.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>已启用的工具服务器都没有资源。</translation>
    </message>
    <message>
        <source>No voice yet</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>尚无声音</translation>
    </message>
    <message>
        <source>None. For example https://app.example</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>无。例如 https://app.example</translation>
    </message>
    <message>
        <source>Not complete</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>未完成</translation>
    </message>
    <message>
        <source>Not now</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>暂不</translation>
    </message>
    <message>
        <source>Not stated. Check with the publisher before you use it.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>未注明。使用前请向发布者确认。</translation>
    </message>
    <message>
        <source>Nothing</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>不保留</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>未找到任何内容。</translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/server/pane.py, app/gui/viewmodels/read_watch.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>关闭</translation>
    </message>
    <message>
        <source>OmniVoice has no voices by name: describe one, or clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py</extracomment>
        <translation>OmniVoice 没有按名称选择的声音：请描述一个声音，或从录音中克隆。</translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>开启</translation>
    </message>
    <message>
        <source>On disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>磁盘占用</translation>
    </message>
    <message>
        <source>On other machines</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>在其他计算机上</translation>
    </message>
    <message>
        <source>On this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>本机</translation>
    </message>
    <message>
        <source>Once a day at most. Only the version of this Grus is sent.</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>每天最多一次。只发送此 Grus 的版本号。</translation>
    </message>
    <message>
        <source>One chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>单个图表</translation>
    </message>
    <message>
        <source>One file per chapter</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>每章一个文件</translation>
    </message>
    <message>
        <source>One formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>单个公式</translation>
    </message>
    <message>
        <source>One line per request, without its content.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>每个请求一行，不含内容。</translation>
    </message>
    <message>
        <source>One moment. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>请稍候。按 Esc 结束。</translation>
    </message>
    <message>
        <source>One seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>单个印章</translation>
    </message>
    <message>
        <source>One table</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>单个表格</translation>
    </message>
    <message>
        <source>Only PDFs and images become a searchable PDF. Choose another format.</source>
        <extracomment>engine/pipelines/reading/writers.py</extracomment>
        <translation>只有 PDF 和图像可以生成可搜索的 PDF。请选择其他格式。</translation>
    </message>
    <message>
        <source>Only if the server does not list it</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>仅当服务器未列出时填写</translation>
    </message>
    <message>
        <source>Only the first {rows} rows are read.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>只读取前 {rows} 行。</translation>
    </message>
    <message>
        <source>Only {free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>仅剩 {free} 可用。</translation>
    </message>
    <message>
        <source>Open</source>
        <extracomment>app/gui/pane.py</extracomment>
        <translation>打开</translation>
    </message>
    <message>
        <source>Open at login</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>登录时打开</translation>
    </message>
    <message>
        <source>Open in the browser</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>在浏览器中打开</translation>
    </message>
    <message>
        <source>Open link</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>打开链接</translation>
    </message>
    <message>
        <source>Open text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>打开文本</translation>
    </message>
    <message>
        <source>Open the browser</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>打开浏览器</translation>
    </message>
    <message>
        <source>Open the conversation: {title}</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>打开对话：{title}</translation>
    </message>
    <message>
        <source>Opening</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>正在打开</translation>
    </message>
    <message>
        <source>Or paste the JSON of Claude Desktop, Cursor, LM Studio or VS Code</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>或粘贴 Claude Desktop、Cursor、LM Studio 或 VS Code 的 JSON</translation>
    </message>
    <message>
        <source>Orpheus has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus 没有声音 {name}。可用：{voices}。</translation>
    </message>
    <message>
        <source>Orpheus has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus 使用自带的声音，不支持克隆。如需克隆，请选择 Qwen3-TTS Base 模型。</translation>
    </message>
    <message>
        <source>Orpheus speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus 说英语，不支持 {language}。</translation>
    </message>
    <message>
        <source>Orpheus takes no instructions; it supports tags in the text: {tags}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus 不接受指令，但支持文本中的标签：{tags}。</translation>
    </message>
    <message>
        <source>Other data</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>其他数据</translation>
    </message>
    <message>
        <source>Other machines can reach the server on port {port}, with a key.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>其他电脑可凭密钥通过端口 {port} 访问服务器。</translation>
    </message>
    <message>
        <source>Other machines may only connect with a key. Create one first.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>其他电脑只能凭密钥连接。请先创建密钥。</translation>
    </message>
    <message>
        <source>Other machines too</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>也允许其他电脑</translation>
    </message>
    <message>
        <source>Other models</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>其他模型</translation>
    </message>
    <message>
        <source>Output</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>输出</translation>
    </message>
    <message>
        <source>Own words</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>自定义词汇</translation>
    </message>
    <message>
        <source>Own words are at most {most}, of {longest} characters each.</source>
        <extracomment>engine/pipelines/listening/glossary.py</extracomment>
        <translation>自定义词汇最多 {most} 个，每个最多 {longest} 个字符。</translation>
    </message>
    <message>
        <source>PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Pace</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>语速</translation>
    </message>
    <message>
        <source>Packed weights</source>
        <extracomment>app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>已打包的权重</translation>
    </message>
    <message>
        <source>Page number</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>页码</translation>
    </message>
    <message>
        <source>Page {number} of the PDF cannot be drawn.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>无法绘制 PDF 的第 {number} 页。</translation>
    </message>
    <message>
        <source>Page {number} of the PDF is damaged.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>PDF 的第 {number} 页已损坏。</translation>
    </message>
    <message>
        <source>Page {n} of {total}</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>第 {n} 页，共 {total} 页</translation>
    </message>
    <message>
        <source>Pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>页面</translation>
    </message>
    <message>
        <source>Pages are named like 1-3,5 or 7-, not {text}.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>页面应写成 1-3,5 或 7- 的形式，而不是 {text}。</translation>
    </message>
    <message>
        <source>Pages, such as 1-3,5 or 7-</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>页面，例如 1-3,5 或 7-</translation>
    </message>
    <message>
        <source>Panes</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>面板</translation>
    </message>
    <message>
        <source>Passages</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>段落</translation>
    </message>
    <message>
        <source>Password</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>密码</translation>
    </message>
    <message>
        <source>Password-protected</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>受密码保护</translation>
    </message>
    <message>
        <source>Paste image</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>粘贴图像</translation>
    </message>
    <message>
        <source>Paste it, and press Enter</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>粘贴后按 Enter</translation>
    </message>
    <message>
        <source>Paste your Hugging Face token, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>粘贴你的 Hugging Face 令牌，然后按 Enter</translation>
    </message>
    <message>
        <source>Pasted picture</source>
        <extracomment>app/gui/chat/composer.py, app/gui/read/pane.py</extracomment>
        <translation>粘贴的图像</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>粘贴的文本</translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Pause or resume</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>暂停或继续</translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Paused after {done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>已在第 {done} 个文件后暂停，共 {total} 个</translation>
    </message>
    <message>
        <source>Paused at {how_far}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>已暂停：{how_far}</translation>
    </message>
    <message>
        <source>Permission of {tool}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{tool} 的权限</translation>
    </message>
    <message>
        <source>Picture</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/read.py</extracomment>
        <translation>图片</translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Pin or unpin the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>置顶或取消置顶对话</translation>
    </message>
    <message>
        <source>Pinned</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>Pitch</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>音高</translation>
    </message>
    <message>
        <source>Play</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>播放</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>播放或暂停</translation>
    </message>
    <message>
        <source>Play segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>播放片段</translation>
    </message>
    <message>
        <source>Play the voice sample</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>播放声音样本</translation>
    </message>
    <message>
        <source>Pocket-TTS takes no instructions. Its voices are recordings.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Pocket-TTS 不接受指令。它的声音是录音。</translation>
    </message>
    <message>
        <source>Port</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>端口</translation>
    </message>
    <message>
        <source>Precise</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>精确</translation>
    </message>
    <message>
        <source>Preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>预设</translation>
    </message>
    <message>
        <source>Press Enter, then the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>先按 Enter，再按组合键</translation>
    </message>
    <message>
        <source>Press the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>请按组合键</translation>
    </message>
    <message>
        <source>Preview</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>预览</translation>
    </message>
    <message>
        <source>Preview the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>预览最后一段代码</translation>
    </message>
    <message>
        <source>Previous branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>上一个分支</translation>
    </message>
    <message>
        <source>Previous conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>上一个对话</translation>
    </message>
    <message>
        <source>Previous document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>上一个文档</translation>
    </message>
    <message>
        <source>Previous library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>上一个资料库</translation>
    </message>
    <message>
        <source>Previous match (Shift+Enter)</source>
        <extracomment>app/gui/chat/find_bar.py</extracomment>
        <translation>上一个匹配项 (Shift+Enter)</translation>
    </message>
    <message>
        <source>Previous message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>上一条消息</translation>
    </message>
    <message>
        <source>Previous page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>上一页</translation>
    </message>
    <message>
        <source>Previous recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>上一段录音</translation>
    </message>
    <message>
        <source>Previous region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>上一个区域</translation>
    </message>
    <message>
        <source>Previous version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>上一个版本</translation>
    </message>
    <message>
        <source>Previous version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>预览的上一个版本</translation>
    </message>
    <message>
        <source>Privacy</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>隐私</translation>
    </message>
    <message>
        <source>Programs must send one of these keys. Without keys, every program on this machine can connect.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>程序必须发送以下密钥之一。没有密钥时，本机上的所有程序都可以连接。</translation>
    </message>
    <message>
        <source>Progress of the download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/models/pane.py</extracomment>
        <translation>下载进度</translation>
    </message>
    <message>
        <source>Project settings</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>项目设置</translation>
    </message>
    <message>
        <source>Project settings…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>项目设置…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Pronunciations</source>
        <extracomment>app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>发音</translation>
    </message>
    <message>
        <source>Python in a sandbox needs Linux on x86-64 or ARM64.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>沙盒中的 Python 需要 x86-64 或 ARM64 上的 Linux。</translation>
    </message>
    <message>
        <source>Python in a sandbox needs a Python on this machine. Install the package python3 of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>沙盒中的 Python 需要本机装有 Python。请安装系统的 python3 软件包。</translation>
    </message>
    <message>
        <source>Python in a sandbox needs bubblewrap. Install the package bubblewrap of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>沙盒中的 Python 需要 bubblewrap。请安装系统的 bubblewrap 软件包。</translation>
    </message>
    <message>
        <source>Python sandbox</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Python 沙盒</translation>
    </message>
    <message>
        <source>Queued. It is sent when the reply has ended.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>已排队。回复结束后发送。</translation>
    </message>
    <message>
        <source>Quit Grus</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>退出 Grus</translation>
    </message>
    <message>
        <source>Read</source>
        <extracomment>app/gui/pane.py, app/gui/read/pane.py</extracomment>
        <translation>阅读</translation>
    </message>
    <message>
        <source>Read again</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>重新读取</translation>
    </message>
    <message>
        <source>Read documents</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>读取文档</translation>
    </message>
    <message>
        <source>Read tables, formulas and scans in many languages: a model for documents.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>读取多种语言的表格、公式和扫描件：文档模型。</translation>
    </message>
    <message>
        <source>Read the text</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>读取文字</translation>
    </message>
    <message>
        <source>Reading</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>正在读取</translation>
    </message>
    <message>
        <source>Reading failed inside: {kind}: {error}</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>读取时发生内部错误：{kind}：{error}</translation>
    </message>
    <message>
        <source>Reading the conversation: {share}.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>正在读取对话：{share}。</translation>
    </message>
    <message>
        <source>Reading the file.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>正在读取文件。</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>正在读取 {name}</translation>
    </message>
    <message>
        <source>Reading {n} tokens.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>正在读取 {n} 个 token。</translation>
    </message>
    <message>
        <source>Reads files in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>读取您所选文件夹中的文件。</translation>
    </message>
    <message>
        <source>Reads pages of the web. Their addresses leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>读取网页。网页地址会离开本机。</translation>
    </message>
    <message>
        <source>Reads pages: text, tables, formulas and charts in 109 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>识别页面：支持 109 种语言的文字、表格、公式和图表。</translation>
    </message>
    <message>
        <source>Reads text aloud in ten languages, with nine voices.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>以十种语言、九种声音朗读文本。</translation>
    </message>
    <message>
        <source>Reads text aloud on any machine, in English and five other languages. It needs the program espeak-ng.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>在任何机器上用英语和另外五种语言朗读文本。需要程序 espeak-ng。</translation>
    </message>
    <message>
        <source>Reasoning</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/panel.py, app/gui/chat/talk_bar.py, app/gui/sampling_fields.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>思考</translation>
    </message>
    <message>
        <source>Reasoning and tools at the speed of a small model: 3.6 of 21 billion parameters are active per token. For 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>以小模型的速度思考和调用工具：每个 token 激活 210 亿参数中的 36 亿。适合 24 GB 内存。</translation>
    </message>
    <message>
        <source>Reasoning limit</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>思考上限</translation>
    </message>
    <message>
        <source>Reasoning, code and tools, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>思考、代码和工具，适合 16 GB 内存的电脑。</translation>
    </message>
    <message numerus="yes">
        <source>Reasoning, {n} words</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>思考，{n} 个词</numerusform>
        </translation>
    </message>
    <message>
        <source>Recognizes more detail, reads small print and longer documents.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>识别更多细节，可读取小字和更长的文档。</translation>
    </message>
    <message>
        <source>Recommended</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>推荐</translation>
    </message>
    <message>
        <source>Record</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>录音</translation>
    </message>
    <message>
        <source>Record from the microphone</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>用麦克风录音</translation>
    </message>
    <message>
        <source>Recording {time}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>录音 {time}</translation>
    </message>
    <message>
        <source>Recording: {time}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>正在录音：{time}</translation>
    </message>
    <message>
        <source>Recordings</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>录音</translation>
    </message>
    <message>
        <source>Redo</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>重做</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>减弱动态效果</translation>
    </message>
    <message>
        <source>Refresh</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>刷新</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>Remember facts for all conversations</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>为所有对话记住事实</translation>
    </message>
    <message>
        <source>Remote</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>远程</translation>
    </message>
    <message>
        <source>Remove</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove from the list</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>从列表中移除</translation>
    </message>
    <message>
        <source>Remove the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>移除资料库</translation>
    </message>
    <message>
        <source>Remove the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>移除项目</translation>
    </message>
    <message>
        <source>Remove the token</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>移除令牌</translation>
    </message>
    <message>
        <source>Remove {folder}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>移除 {folder}</translation>
    </message>
    <message>
        <source>Remove {folder} from the list</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>从列表中移除 {folder}</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <extracomment>app/gui/chat/composer.py, app/gui/settings/tools.py</extracomment>
        <translation>移除 {name}</translation>
    </message>
    <message>
        <source>Removing.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>正在移除。</translation>
    </message>
    <message>
        <source>Rename</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Rename in the whole recording</source>
        <extracomment>app/gui/listen/pane.py, app/gui/listen/speakers.py</extracomment>
        <translation>在整个录音中重命名</translation>
    </message>
    <message>
        <source>Rename the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>重命名对话</translation>
    </message>
    <message>
        <source>Rename the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>重命名项目</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Replace all</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>全部替换</translation>
    </message>
    <message>
        <source>Replace with</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>替换为</translation>
    </message>
    <message>
        <source>Replicas</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>副本</translation>
    </message>
    <message>
        <source>Replies are generated on this machine.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>回复在本机上生成。</translation>
    </message>
    <message>
        <source>Reply</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>回复</translation>
    </message>
    <message>
        <source>Reply of {model}</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>{model} 的回复</translation>
    </message>
    <message>
        <source>Repository</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>仓库</translation>
    </message>
    <message>
        <source>Requires</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>需要</translation>
    </message>
    <message>
        <source>Reranking</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>重排序</translation>
    </message>
    <message>
        <source>Resources</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>资源</translation>
    </message>
    <message>
        <source>Restart Grus</source>
        <extracomment>app/gui/settings/cuda_pack.py, app/gui/settings/speculation.py</extracomment>
        <translation>重新启动 Grus</translation>
    </message>
    <message>
        <source>Result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>结果</translation>
    </message>
    <message>
        <source>Results</source>
        <extracomment>app/gui/palette.py, app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>结果</translation>
    </message>
    <message>
        <source>Resume</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>继续</translation>
    </message>
    <message>
        <source>Resume the audiobook</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>继续制作有声书</translation>
    </message>
    <message>
        <source>Retry</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>重试</translation>
    </message>
    <message>
        <source>Retry now. Grus also retries automatically.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>立即重试。Grus 也会自动重试。</translation>
    </message>
    <message>
        <source>Reuse the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>重新使用文本</translation>
    </message>
    <message>
        <source>Rotate the page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>旋转页面</translation>
    </message>
    <message>
        <source>Run in the sandbox</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>在沙盒中运行</translation>
    </message>
    <message>
        <source>Run or open the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>运行或打开预览</translation>
    </message>
    <message>
        <source>Running on {address}</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>正在运行于 {address}</translation>
    </message>
    <message>
        <source>Running the code.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>正在运行代码。</translation>
    </message>
    <message>
        <source>Runs Python without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>运行 Python，无网络、不接触您的文件，并限制时间和内存。</translation>
    </message>
    <message>
        <source>Runs on</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>运行于</translation>
    </message>
    <message>
        <source>Sample only from the most likely tokens that together have this probability.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>仅从累计概率达到此值的最高概率 token 中采样。</translation>
    </message>
    <message>
        <source>Sample only from this many of the most likely tokens. 0: all.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>仅从此数量的最高概率 token 中采样。0：全部。</translation>
    </message>
    <message>
        <source>Sampling</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>采样</translation>
    </message>
    <message>
        <source>Save</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>保存</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>另存为预设</translation>
    </message>
    <message>
        <source>Save audio</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>存储音频</translation>
    </message>
    <message>
        <source>Save now</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>立即保存</translation>
    </message>
    <message>
        <source>Save the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>保存声音</translation>
    </message>
    <message>
        <source>Save to</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>保存到</translation>
    </message>
    <message>
        <source>Saved as {file}.</source>
        <extracomment>app/gui/pane.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>已保存为 {file}。</translation>
    </message>
    <message>
        <source>Say something. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>请说话。按 Esc 结束。</translation>
    </message>
    <message>
        <source>Say what is spoken in the recording, or clone the voice&apos;s colour alone.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>请填写录音中所说的内容，或仅克隆音色。</translation>
    </message>
    <message>
        <source>Scaled down from {width} x {height} to {less} x {lower} pixels.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>已从 {width} × {height} 缩小为 {less} × {lower} 像素。</translation>
    </message>
    <message>
        <source>Screen capture</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>屏幕截图</translation>
    </message>
    <message>
        <source>Seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>印章</translation>
    </message>
    <message>
        <source>Search</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>搜索 Hugging Face</translation>
    </message>
    <message>
        <source>Search Hugging Face, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>搜索 Hugging Face，按 Enter</translation>
    </message>
    <message>
        <source>Search in all conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>搜索所有对话</translation>
    </message>
    <message>
        <source>Search in the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>在资料库中搜索</translation>
    </message>
    <message>
        <source>Searches the libraries in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>搜索您所选文件夹中的资料库。</translation>
    </message>
    <message>
        <source>Searches the web through an address of yours: SearXNG, or Brave with a key. Queries leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>通过您自己的地址搜索网络：SearXNG，或使用密钥的 Brave。查询会离开本机。</translation>
    </message>
    <message>
        <source>Searching Hugging Face for {words}.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>正在 Hugging Face 上搜索“{words}”。</translation>
    </message>
    <message>
        <source>Searching your documents.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>正在搜索您的文档。</translation>
    </message>
    <message>
        <source>See what is installed, or download a recommended model that fits.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>查看已安装的模型，或下载适合本机的推荐模型。</translation>
    </message>
    <message>
        <source>Seed</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>种子</translation>
    </message>
    <message>
        <source>Send</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>发送</translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>发送 (Enter)</translation>
    </message>
    <message>
        <source>Separate origins with commas. * allows all.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>用逗号分隔来源。* 表示允许所有来源。</translation>
    </message>
    <message>
        <source>Server</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Settings</source>
        <extracomment>app/gui/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>设置</translation>
    </message>
    <message>
        <source>Settings of this conversation</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>此对话的设置</translation>
    </message>
    <message>
        <source>Settings of {name}</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>{name} 的设置</translation>
    </message>
    <message>
        <source>Settings say to work offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>“设置”中已启用离线工作</translation>
    </message>
    <message>
        <source>Several draft tokens are verified in one step. Replies come sooner and stay the same.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>一步验证多个草稿 token。回复更快，内容不变。</translation>
    </message>
    <message>
        <source>Shortened to {n} characters.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>已截短为 {n} 个字符。</translation>
    </message>
    <message>
        <source>Show</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>显示</translation>
    </message>
    <message>
        <source>Show Grus</source>
        <extracomment>app/gui/desktop.py, app/gui/hotkey.py</extracomment>
        <translation>显示 Grus</translation>
    </message>
    <message numerus="yes">
        <source>Show all, {n} lines</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>显示全部，{n} 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Show data folder</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>显示数据文件夹</translation>
    </message>
    <message>
        <source>Show folder</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>显示文件夹</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>Show less</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>收起</translation>
    </message>
    <message>
        <source>Show me</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>带我去看</translation>
    </message>
    <message>
        <source>Show on Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>在 Hugging Face 上查看</translation>
    </message>
    <message>
        <source>Show or hide reasoning</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>显示或隐藏思考过程</translation>
    </message>
    <message>
        <source>Show reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>显示思考过程</translation>
    </message>
    <message>
        <source>Show the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>显示调用</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>显示文件夹</translation>
    </message>
    <message>
        <source>Show the log</source>
        <extracomment>app/gui/settings/pane.py, app/gui/window.py</extracomment>
        <translation>显示日志</translation>
    </message>
    <message>
        <source>Show the log of {name}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>显示 {name} 的日志</translation>
    </message>
    <message>
        <source>Show tokens and time under replies</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>在回复下方显示 token 数和用时</translation>
    </message>
    <message>
        <source>Show tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>显示工具</translation>
    </message>
    <message>
        <source>Show under every reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>在每条回复下方显示</translation>
    </message>
    <message>
        <source>Show {what}</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>显示{what}</translation>
    </message>
    <message>
        <source>Side note</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>旁注</translation>
    </message>
    <message>
        <source>Sign in</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>登录</translation>
    </message>
    <message>
        <source>Sign in at {host} in your browser. Grus waits for the answer.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>请在浏览器中登录 {host}。Grus 正在等待答复。</translation>
    </message>
    <message>
        <source>Sign out</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>退出登录</translation>
    </message>
    <message>
        <source>Simple conversations in many languages with little memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>占用内存少，支持多种语言的简单对话。</translation>
    </message>
    <message>
        <source>Simple conversations, tools and code, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>简单对话、工具和代码，适合 16 GB 内存的电脑。</translation>
    </message>
    <message>
        <source>Small and fast, in many languages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>小巧快速，支持多种语言。可选思考。</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>缩小文字</translation>
    </message>
    <message>
        <source>Snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>代码片段</translation>
    </message>
    <message>
        <source>Something is being spoken. Wait for it, or stop it.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>正在朗读。请等待，或停止它。</translation>
    </message>
    <message>
        <source>Something went wrong inside Grus: {error}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Grus 内部出错：{error}。</translation>
    </message>
    <message>
        <source>Sorts the passages of a search by how well they answer the question.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>按回答问题的好坏对搜索到的段落排序。</translation>
    </message>
    <message>
        <source>Spark-TTS has no voice {name}. It has: female, male.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS 没有声音 {name}。可用：female、male。</translation>
    </message>
    <message>
        <source>Spark-TTS speaks Chinese and English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS 支持中文和英语，不支持 {language}。</translation>
    </message>
    <message>
        <source>Spark-TTS takes no instructions for a cloned voice: pitch and speed are the recording&apos;s.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>克隆声音时 Spark-TTS 不接受指令：音高和语速由录音决定。</translation>
    </message>
    <message>
        <source>Speak</source>
        <extracomment>app/gui/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>朗读</translation>
    </message>
    <message>
        <source>Speak the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>朗读文本</translation>
    </message>
    <message>
        <source>Speak to interrupt the voice.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>说话即可打断语音。</translation>
    </message>
    <message>
        <source>Speaker {number}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>说话人 {number}</translation>
    </message>
    <message>
        <source>Speakers</source>
        <extracomment>app/gui/listen/speakers.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>说话人</translation>
    </message>
    <message>
        <source>Speakers whom you name in Listen are named in the next recording, where a model that recognizes voices is installed. What is kept of a voice are numbers, on this machine only.</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>您在“聆听”中命名的说话人，如果安装了识别声音的模型，会在下一段录音中自动标出姓名。声音只以数字形式保存，且仅保存在本机。</translation>
    </message>
    <message>
        <source>Speaking</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>正在朗读</translation>
    </message>
    <message>
        <source>Speaking style: cheerful, slow, slightly hoarse</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>说话风格：欢快、缓慢、略带沙哑</translation>
    </message>
    <message>
        <source>Speaks 600 languages, in a voice that you describe or in that of a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>会说 600 种语言，使用您描述的声音或录音中的声音。</translation>
    </message>
    <message>
        <source>Speaks English, in the voice of a recording of a few seconds, and as expressively as you choose.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>说英语，使用几秒钟录音中的声音，表现力由您选择。</translation>
    </message>
    <message>
        <source>Speculative decoding</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>推测解码</translation>
    </message>
    <message>
        <source>Speech</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>语音</translation>
    </message>
    <message>
        <source>Speed</source>
        <extracomment>app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>速度</translation>
    </message>
    <message>
        <source>Split here</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>在此处拆分</translation>
    </message>
    <message>
        <source>Start or stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>启动或停止服务器</translation>
    </message>
    <message>
        <source>Start server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>启动服务器</translation>
    </message>
    <message>
        <source>Starting</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>Starting the tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>正在启动工具。</translation>
    </message>
    <message>
        <source>Starting {name}.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>正在启动 {name}。</translation>
    </message>
    <message>
        <source>Status</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>状态</translation>
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
        <translation>停止听写</translation>
    </message>
    <message>
        <source>Stop recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>停止录音</translation>
    </message>
    <message>
        <source>Stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>停止服务器</translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>停止朗读</translation>
    </message>
    <message>
        <source>Stop the server to change these.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>停止服务器后才能更改这些设置。</translation>
    </message>
    <message>
        <source>Stop transcribing</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>停止转写</translation>
    </message>
    <message>
        <source>Stopped</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/chat/preview.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Stopped after {done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>已停止：完成 {done}/{total} 页</translation>
    </message>
    <message>
        <source>Subtitles (SRT)</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>字幕 (SRT)</translation>
    </message>
    <message>
        <source>Switch between light and dark</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>切换浅色和深色</translation>
    </message>
    <message>
        <source>System</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>系统</translation>
    </message>
    <message>
        <source>System prompt</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>System prompt and sampling</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>系统提示词和采样</translation>
    </message>
    <message>
        <source>Table</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/read/document.py, app/gui/viewmodels/read.py</extracomment>
        <translation>表格</translation>
    </message>
    <message>
        <source>Tags in the text control the voice: {tags}.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>可用文本中的标签控制声音：{tags}。</translation>
    </message>
    <message>
        <source>Takes effect after a restart of Grus.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>重新启动 Grus 后生效。</translation>
    </message>
    <message>
        <source>Talk</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>语音对话</translation>
    </message>
    <message>
        <source>Talk needs a speech recognition model and a text-to-speech model. Download {names} here, then try again.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>语音对话需要语音识别模型和语音合成模型。请在此下载 {names}，然后重试。</translation>
    </message>
    <message>
        <source>Tell speakers apart</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>区分说话人</translation>
    </message>
    <message>
        <source>Tells who speaks when in a recording, beside a model that transcribes: up to four speakers.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>与转写模型配合，判断录音中谁在何时说话：最多四位说话人。</translation>
    </message>
    <message>
        <source>Temperature</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>温度</translation>
    </message>
    <message>
        <source>Tensor parallelism</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>张量并行</translation>
    </message>
    <message>
        <source>Text</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>文本</translation>
    </message>
    <message>
        <source>Text of the segment</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>片段文本</translation>
    </message>
    <message>
        <source>Text only</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>仅文本</translation>
    </message>
    <message>
        <source>Text size</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>文字大小</translation>
    </message>
    <message>
        <source>Text to speak</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>要朗读的文本</translation>
    </message>
    <message>
        <source>Text with positions</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>带位置的文本</translation>
    </message>
    <message>
        <source>Texts</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>文本</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be downloaded: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>无法下载 CUDA 包：{reason}。</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be removed: {reason}. Close every Grus that uses it first.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>无法移除 CUDA 包：{reason}。请先关闭所有正在使用它的 Grus。</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be unpacked: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>无法解压 CUDA 包：{reason}。</translation>
    </message>
    <message>
        <source>The CUDA pack needs {needed}, but {folder} has only {free} left. {variable} names another place.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>CUDA 包需要 {needed}，但 {folder} 仅剩 {free}。可用 {variable} 指定其他位置。</translation>
    </message>
    <message>
        <source>The Hugging Face cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Hugging Face 缓存</translation>
    </message>
    <message>
        <source>The Hugging Face cache, shared with other programs</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Hugging Face 缓存，与其他程序共享</translation>
    </message>
    <message>
        <source>The PDF has no pages.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>此 PDF 没有页面。</translation>
    </message>
    <message>
        <source>The PDF is damaged or incomplete.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>此 PDF 已损坏或不完整。</translation>
    </message>
    <message>
        <source>The PDF is protected. Give its password.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>此 PDF 受保护。请输入密码。</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} reads handwriting, formulas and other scripts, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader 对此页面没有把握。{model} 可读取手写文字、公式和其他文字，在本机上每满页约需 {seconds} 秒。</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} with {layout} as its layout reads other scripts and photographs, line by line.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader 对此页面没有把握。{model} 配合 {layout} 作为版面模型，可逐行读取其他文字和照片。</translation>
    </message>
    <message>
        <source>The address begins with http: others on the way can read what is sent, and the key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>地址以 http 开头：途中的其他人可以读取发送的内容和密钥。</translation>
    </message>
    <message>
        <source>The address of a search is like https://searx.example.org or http://127.0.0.1:8080.</source>
        <extracomment>app/runtime/tools/web.py</extracomment>
        <translation>搜索服务地址形如 https://searx.example.org 或 http://127.0.0.1:8080。</translation>
    </message>
    <message>
        <source>The best reasoning and code of its size, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>同等大小中思考和代码能力最强，适合 32 GB 高速内存。</translation>
    </message>
    <message>
        <source>The certificate of {name} at {host} is not valid.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name}（{host}）的证书无效。</translation>
    </message>
    <message>
        <source>The chat model in memory corrects punctuation, capitals, filler words and slips. Without one, the text is typed as it was spoken. The last texts as they were spoken are kept here until Grus is closed.</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>已加载的聊天模型会修正标点、大小写、语气词和口误。没有这样的模型时，文本按原话输入。最近的原话保留在这里，直到 Grus 关闭。</translation>
    </message>
    <message>
        <source>The chat template of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>无法使用此模型的聊天模板。</translation>
    </message>
    <message>
        <source>The clipboard contains no image and no file.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>剪贴板中没有图像或文件。</translation>
    </message>
    <message>
        <source>The configuration of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>无法使用此模型的配置。</translation>
    </message>
    <message>
        <source>The date, the day of the week and the time.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>日期、星期和时间。</translation>
    </message>
    <message>
        <source>The desktop did not give the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>桌面环境没有授予此快捷键。请清空此栏，再按一次按键。</translation>
    </message>
    <message>
        <source>The desktop ended the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>桌面环境已取消此快捷键。请清空此栏，再按一次按键。</translation>
    </message>
    <message>
        <source>The disk has too little room for what is in this archive.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>磁盘空间不足，无法容纳此归档的内容。</translation>
    </message>
    <message>
        <source>The disk is full, so {repo} could not be downloaded to its end{where}. What arrived is kept: make room, and download it again to continue.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>磁盘已满，{repo} 未能下载完{where}。已下载的部分会保留：请腾出空间，然后重新下载以继续。</translation>
    </message>
    <message>
        <source>The download of {name} was interrupted. Start it again: it continues from there.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} 的下载已中断。重新开始即可从中断处继续。</translation>
    </message>
    <message>
        <source>The engine failed: {kind}: {error}</source>
        <extracomment>engine/engine.py, engine/tasks.py</extracomment>
        <translation>引擎失败：{kind}：{error}</translation>
    </message>
    <message>
        <source>The engine has been stopped.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>引擎已停止。</translation>
    </message>
    <message>
        <source>The engine is starting.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>引擎正在启动。</translation>
    </message>
    <message>
        <source>The engine was stopped before the request ended.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>请求完成前引擎已停止。</translation>
    </message>
    <message>
        <source>The fact was deleted.</source>
        <extracomment>app/gui/viewmodels/memories.py</extracomment>
        <translation>事实已删除。</translation>
    </message>
    <message>
        <source>The fastest: short answers, summaries and first drafts on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>速度最快：适合任何电脑的简短回答、摘要和初稿。</translation>
    </message>
    <message>
        <source>The file holds XML that expands itself or never ends; it is not opened.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>文件包含会自我展开或没有结尾的 XML，因此不会打开。</translation>
    </message>
    <message>
        <source>The file is damaged or incomplete ({kind}).</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>文件已损坏或不完整（{kind}）。</translation>
    </message>
    <message>
        <source>The file is empty.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>文件为空。</translation>
    </message>
    <message>
        <source>The file is larger than can be read here.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>文件太大，无法在此读取。</translation>
    </message>
    <message>
        <source>The file is protected with a password. Save a copy without one.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>文件受密码保护。请保存一份不带密码的副本。</translation>
    </message>
    <message>
        <source>The file unpacks to more than can be read here: it is damaged, or made to do harm.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>文件解压后过大：它已损坏，或是为造成损害而制作的。</translation>
    </message>
    <message>
        <source>The file with your conversations was damaged. It was saved as {file}, and Grus started with a new one.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>对话文件已损坏。它已保存为 {file}，Grus 使用了新文件。</translation>
    </message>
    <message>
        <source>The format {kind} is not supported. Choose a format from the list.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>不支持 {kind} 格式。请从列表中选择格式。</translation>
    </message>
    <message>
        <source>The hub does not say which version of {name} it has. Try again later.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>Hugging Face 未说明 {name} 的版本。请稍后重试。</translation>
    </message>
    <message>
        <source>The hub redirects a file in a circle. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face 的文件重定向出现循环。请稍后重试。</translation>
    </message>
    <message>
        <source>The image has no pixels.</source>
        <extracomment>engine/media/documents.py, engine/media/image.py</extracomment>
        <translation>图像没有像素。</translation>
    </message>
    <message>
        <source>The image has pixels of floating point, which have no fixed white. Save it with 8 bits.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>图像为浮点像素，没有固定的白色值。请以 8 位保存。</translation>
    </message>
    <message>
        <source>The image has too many pixels; the most is {most}.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>图像像素过多，上限为 {most}。</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than can be read ({most}).</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>图像为 {width} × {height} 像素，超出可读取的上限（{most}）。</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than the memory that is free can hold.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>图像为 {width} × {height} 像素，超出可用内存。</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels; the most is {most} in all.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>图像为 {width} × {height} 像素，总数上限为 {most}。</translation>
    </message>
    <message>
        <source>The image is damaged or incomplete ({kind}).</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>图像已损坏或不完整（{kind}）。</translation>
    </message>
    <message>
        <source>The image is empty.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>图像为空。</translation>
    </message>
    <message>
        <source>The image needs more memory than is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>图像所需内存超过可用内存。</translation>
    </message>
    <message>
        <source>The image needs more memory than there is. Send a smaller one.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>图像所需内存超过现有内存。请使用较小的图像。</translation>
    </message>
    <message>
        <source>The index was made by a newer version of Grus.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>此索引由更新版本的 Grus 创建。</translation>
    </message>
    <message>
        <source>The key is copied.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>密钥已复制。</translation>
    </message>
    <message>
        <source>The library that runs models.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>运行模型的库。</translation>
    </message>
    <message>
        <source>The list of new versions cannot be read. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>无法读取新版本列表。未做任何更改。</translation>
    </message>
    <message>
        <source>The list of new versions is not trusted: {reason}. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新版本列表不可信：{reason}。未做任何更改。</translation>
    </message>
    <message>
        <source>The list of new versions is too large. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>新版本列表过大。未做任何更改。</translation>
    </message>
    <message>
        <source>The log has more.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>详情请见日志。</translation>
    </message>
    <message>
        <source>The loudspeaker was disconnected. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>扬声器已断开。请连接后重新播放。</translation>
    </message>
    <message>
        <source>The maximum length was reached. Press Continue for more.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>已达到最大长度。按“继续”以继续生成。</translation>
    </message>
    <message>
        <source>The message was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>消息已删除。</translation>
    </message>
    <message>
        <source>The microphone could not be opened. Is another program using it?</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>无法打开麦克风。是否有其他程序正在使用？</translation>
    </message>
    <message>
        <source>The microphone was disconnected. The recording so far is kept. Connect a microphone, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>麦克风已断开。已录内容会保留。请连接麦克风后重试。</translation>
    </message>
    <message>
        <source>The model chosen last</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>上次选择的模型</translation>
    </message>
    <message>
        <source>The model is not sure of this text.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>模型对此文本没有把握。</translation>
    </message>
    <message>
        <source>The model made no voice of these words. Try another seed.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>模型未能根据这些文字生成声音。请重试。</translation>
    </message>
    <message>
        <source>The model may call this tool.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>模型可以调用此工具。</translation>
    </message>
    <message>
        <source>The model {model} writes no text.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>模型 {model} 不能生成文本。</translation>
    </message>
    <message>
        <source>The model {name} cannot be used here.</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>模型 {name} 无法在此使用。</translation>
    </message>
    <message>
        <source>The model {name} could not be loaded: {kind}: {error}</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>无法加载模型 {name}：{kind}：{error}</translation>
    </message>
    <message>
        <source>The model {name} is not loaded.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>模型 {name} 未加载。</translation>
    </message>
    <message>
        <source>The model {name} takes {size} MiB; the memory limit is {limit} MiB, and its sequences need room too.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>模型 {name} 占用 {size} MiB；内存上限为 {limit} MiB，其序列也需要空间。</translation>
    </message>
    <message>
        <source>The name or folder of a small model with the same vocabulary, or of an EAGLE-3 head made for the model.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>词表相同的小模型，或为该模型制作的 EAGLE-3 头的名称或文件夹。</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>新版本已下载，签名有效。</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid. In a terminal: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>新版本已下载，签名有效。在终端中运行：{command}</translation>
    </message>
    <message>
        <source>The page</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>页面</translation>
    </message>
    <message>
        <source>The page can load nothing from the network and send nothing.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>该网页无法从网络加载任何内容，也无法发送任何内容。</translation>
    </message>
    <message>
        <source>The page is empty.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>页面为空。</translation>
    </message>
    <message>
        <source>The password is wrong.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>密码错误。</translation>
    </message>
    <message>
        <source>The process that answered has ended: {why}. Send the request again.</source>
        <extracomment>engine/parallel/replica_scheduler.py</extracomment>
        <translation>正在回答的进程已结束：{why}。请重新发送请求。</translation>
    </message>
    <message>
        <source>The project was removed. Its conversations are still here.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>项目已移除。其中的对话仍然保留。</translation>
    </message>
    <message>
        <source>The prompt has {tokens} tokens; the context holds {limit}, and a reply needs room too. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>提示词有 {tokens} 个 token，上下文可容纳 {limit} 个，回复也需要空间。请缩短提示词。</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>提示词为空。</translation>
    </message>
    <message>
        <source>The reading was stopped.</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>读取已停止。</translation>
    </message>
    <message>
        <source>The recording is clipped: {share} of its samples are as loud as it goes. Record it again, quieter.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>录音削波：{share} 的采样达到最大值。请降低音量重新录制。</translation>
    </message>
    <message>
        <source>The recording is silent.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>录音没有声音。</translation>
    </message>
    <message>
        <source>The recording lasts {seconds} seconds. A voice can be taken from {least} to {most}; 3 to 15 are best.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>录音时长为 {seconds} 秒。可用时长为 {least} 到 {most} 秒，最佳为 3 到 15 秒。</translation>
    </message>
    <message>
        <source>The recording of {name} is too short to know the voice again.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>{name} 的录音太短，无法再次认出该声音。</translation>
    </message>
    <message>
        <source>The recording&apos;s codes do not belong to this model. Make the voice again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>录音的编码不属于此模型。请重新创建声音。</translation>
    </message>
    <message>
        <source>The same seed gives the same answer.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>相同的种子得到相同的回复。</translation>
    </message>
    <message>
        <source>The same, with fewer errors.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>用途相同，错误更少。</translation>
    </message>
    <message>
        <source>The server {name} was removed, with its key.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>已移除服务器 {name} 及其密钥。</translation>
    </message>
    <message>
        <source>The servers cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>无法将服务器保存到 {file}：{reason}。</translation>
    </message>
    <message>
        <source>The system has no voice that speaks {language}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>系统没有会说 {language} 的语音。</translation>
    </message>
    <message>
        <source>The system has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>系统没有语音 {name}。现有：{voices}。</translation>
    </message>
    <message>
        <source>The system&apos;s voice failed ({reason}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>系统语音出错（{reason}）。</translation>
    </message>
    <message>
        <source>The system&apos;s voices clone none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>系统语音不能克隆声音。要克隆，请选择 Qwen3-TTS Base 模型。</translation>
    </message>
    <message>
        <source>The system&apos;s voices take no instructions.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>系统语音不接受指令。</translation>
    </message>
    <message>
        <source>The text</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>文本</translation>
    </message>
    <message>
        <source>The text cannot be typed ({error}); it is in the clipboard. On Debian, install libxtst6.</source>
        <extracomment>app/gui/keyboard/x11_paste.py</extracomment>
        <translation>无法输入文字（{error}）；文字已在剪贴板中。在 Debian 上请安装 libxtst6。</translation>
    </message>
    <message>
        <source>The text has {length} characters; the most is {most}.</source>
        <extracomment>engine/pipelines/reading/book.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>文本有 {length} 个字符，上限为 {most} 个。</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} are spoken at once.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>文本有 {length} 个字符，一次可朗读 {most} 个。</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} can be spoken at once.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>文本有 {length} 个字符，一次最多可朗读 {most} 个。</translation>
    </message>
    <message>
        <source>The text has {tokens} tokens; the context holds {limit}. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>文本有 {tokens} 个 token，上下文可容纳 {limit} 个。请缩短文本。</translation>
    </message>
    <message>
        <source>The text is longer than its place on the page can hold.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>文本超出其在页面上的空间。</translation>
    </message>
    <message>
        <source>The text repeats itself.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>文本出现重复。</translation>
    </message>
    <message>
        <source>The text was read.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>已读取文字。</translation>
    </message>
    <message>
        <source>The token cannot be kept in {file}: {reason}.</source>
        <extracomment>engine/secret_store.py</extracomment>
        <translation>无法将令牌存储到 {file}：{reason}。</translation>
    </message>
    <message>
        <source>The tokenizer of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>无法使用此模型的分词器。</translation>
    </message>
    <message>
        <source>The tools cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>无法将工具保存到 {file}：{reason}。</translation>
    </message>
    <message>
        <source>The tools file {file} cannot be read: {error}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>无法读取工具文件 {file}：{error}。</translation>
    </message>
    <message>
        <source>The tools file {file} is damaged. Correct it or delete it.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>工具文件 {file} 已损坏。请修正或删除它。</translation>
    </message>
    <message>
        <source>The voice did not come to an end. Try again, or with a shorter text.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>语音未能正常结束。请重试，或使用较短的文本。</translation>
    </message>
    <message>
        <source>The voice has {size} numbers and this model wants {wanted}: it was made for a model of another size. Make it again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>该声音有 {size} 个数值，而此模型需要 {wanted} 个：它是为其他大小的模型创建的。请重新创建。</translation>
    </message>
    <message>
        <source>The voice was made for another model. Make it again.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py, engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>该声音是为另一个模型制作的。请重新制作。</translation>
    </message>
    <message>
        <source>The voice {name} does not fit this model.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>声音 {name} 与此模型不兼容。</translation>
    </message>
    <message>
        <source>The voice {name} is damaged. Make it again from {sample}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>声音“{name}”已损坏。请用 {sample} 重新创建。</translation>
    </message>
    <message>
        <source>The voice {name} is damaged: {path}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>声音“{name}”已损坏：{path}。</translation>
    </message>
    <message>
        <source>The voice {name} is saved.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声音“{name}”已保存。</translation>
    </message>
    <message>
        <source>The voice {name} was deleted.</source>
        <extracomment>app/gui/viewmodels/known_voices.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>声音“{name}”已删除。</translation>
    </message>
    <message>
        <source>The weights of this model are damaged or incomplete.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>此模型的权重已损坏或不完整。</translation>
    </message>
    <message>
        <source>The weights take {weights} of the {limit} that may be used, which leaves no room for a conversation. Choose a smaller or more strongly quantized model, or raise the memory limit.</source>
        <extracomment>engine/shares.py</extracomment>
        <translation>权重占用了可用 {limit} 中的 {weights}，没有空间进行对话。请选择更小或量化程度更高的模型，或提高内存上限。</translation>
    </message>
    <message>
        <source>There are no documents and no images in the folder {path}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>文件夹 {path} 中没有文档或图像。</translation>
    </message>
    <message>
        <source>There is a voice called {name} already. Choose another name, or delete it first.</source>
        <extracomment>engine/pipelines/speaking/voice.py, app/runtime/voice.py</extracomment>
        <translation>已有名为“{name}”的声音。请换一个名称，或先将其删除。</translation>
    </message>
    <message>
        <source>There is no file {path}.</source>
        <extracomment>engine/media/documents.py, app/runtime/imports/export_file.py</extracomment>
        <translation>文件 {path} 不存在。</translation>
    </message>
    <message>
        <source>There is no folder {path}.</source>
        <extracomment>engine/pipelines/reading/watching.py, app/runtime/library/folders.py, app/runtime/library/indexer.py</extracomment>
        <translation>没有文件夹 {path}。</translation>
    </message>
    <message>
        <source>There is no other model</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>没有其他模型</translation>
    </message>
    <message>
        <source>There is no room for another model while those that are loaded work.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>已加载的模型正在工作，没有空间加载其他模型。</translation>
    </message>
    <message>
        <source>There is no room for another model: all that are loaded are pinned.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>没有空间加载其他模型：所有已加载的模型均已固定。</translation>
    </message>
    <message>
        <source>There is no saved voice called {name}. Saved: {known}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>没有名为 {name} 的已存声音。已存：{known}。</translation>
    </message>
    <message>
        <source>There is no server {name} here. Added: {have}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>这里没有服务器 {name}。已添加：{have}。</translation>
    </message>
    <message>
        <source>There is no text to speak.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py, engine/pipelines/speaking/system_voice.py, engine/pipelines/speaking/voice.py</extracomment>
        <translation>没有可朗读的文本。</translation>
    </message>
    <message>
        <source>There is no tool server {name}. Added: {have}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>没有工具服务器 {name}。已添加：{have}。</translation>
    </message>
    <message>
        <source>There is no voice {name}. Choose one of {voices}.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>没有声音 {name}。请从以下选择：{voices}。</translation>
    </message>
    <message>
        <source>There is nothing to say: the text is empty.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py, engine/pipelines/speaking/qwen3_tts.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>没有可朗读的内容：文本为空。</translation>
    </message>
    <message>
        <source>There was nothing to speak.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>没有可朗读的内容。</translation>
    </message>
    <message>
        <source>These hold for all conversations in the project, also for those that are there already.</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>这些设置适用于项目中的所有对话，包括已有的对话。</translation>
    </message>
    <message>
        <source>This JSON file contains no conversation: it has no list of messages.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>此 JSON 文件不包含对话：没有消息列表。</translation>
    </message>
    <message>
        <source>This address belongs to no sign-in that is waited for.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>此地址不属于正在等待的登录。</translation>
    </message>
    <message>
        <source>This address comes from the model. Open it in your browser?</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>此地址来自模型。要在浏览器中打开吗？</translation>
    </message>
    <message>
        <source>This archive cannot be imported: a part of it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>无法导入此存档：其中一部分已损坏。</translation>
    </message>
    <message>
        <source>This archive is not a document that can be read: no docx, pptx, xlsx, odt, ods, odp or epub.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>此压缩包不是可读取的文档：不是 docx、pptx、xlsx、odt、ods、odp 或 epub。</translation>
    </message>
    <message>
        <source>This archive was made by a newer Grus. Update Grus to import it.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>此存档由更新版本的 Grus 创建。请更新 Grus 后再导入。</translation>
    </message>
    <message>
        <source>This conversation cannot be imported: one of its messages is incomplete.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>无法导入此对话：其中一条消息不完整。</translation>
    </message>
    <message>
        <source>This conversation was exported by a newer version of Grus. Update Grus to import it.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>此对话由更新版本的 Grus 导出。请更新 Grus 后再导入。</translation>
    </message>
    <message>
        <source>This copy of Chatterbox cannot clone: it is without its speech tokenizer. Put model.safetensors of mlx-community/S3TokenizerV2 beside it as {name}, or use ResembleAI/chatterbox.</source>
        <extracomment>engine/models/chatterbox_encoder.py</extracomment>
        <translation>这份 Chatterbox 不能克隆：缺少语音分词器。请将 mlx-community/S3TokenizerV2 的 model.safetensors 以 {name} 为名放在旁边，或使用 ResembleAI/chatterbox。</translation>
    </message>
    <message>
        <source>This copy of Chatterbox comes without a voice. Clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>这份 Chatterbox 不带声音。请用录音克隆一个。</translation>
    </message>
    <message>
        <source>This desktop does not let apps capture the screen. Take a screenshot with the desktop&apos;s own tool, then paste it here.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>此桌面环境不允许应用截屏。请用桌面自带的工具截图，然后粘贴到此处。</translation>
    </message>
    <message>
        <source>This desktop does not let apps see a key that is held. In its keyboard settings, add a shortcut for the command {command}, which begins dictation, and the next time ends it.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>此桌面环境不允许应用检测按住的按键。请在其键盘设置中为命令 {command} 添加快捷键：按一次开始听写，再按一次结束。</translation>
    </message>
    <message>
        <source>This desktop does not let apps set global shortcuts. In its keyboard settings, add a shortcut for the command {command}, which brings the window to the front.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>此桌面环境不允许应用设置全局快捷键。请在其键盘设置中为命令 {command} 添加快捷键，该命令会将窗口置于最前。</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others, so the text is in the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>此桌面环境不允许应用向其他应用输入，因此文字已放入剪贴板。请安装 wtype（Sway、Hyprland），或 ydotool 及其服务（任何桌面环境）。</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others. Copy puts the text into the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service and wl-clipboard (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>此桌面环境不允许应用向其他应用输入。“复制”会将文字放入剪贴板。请安装 wtype（Sway、Hyprland），或 ydotool 及其服务和 wl-clipboard（任何桌面环境）。</translation>
    </message>
    <message>
        <source>This download was interrupted. What was downloaded is kept.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>此下载已中断。已下载的部分会保留。</translation>
    </message>
    <message>
        <source>This file is not JSON. Import a conversation that was exported as JSON.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>此文件不是 JSON。请导入以 JSON 格式导出的对话。</translation>
    </message>
    <message>
        <source>This file is not a Grus archive, or it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>此文件不是 Grus 存档，或已损坏。</translation>
    </message>
    <message>
        <source>This is a Base model: it needs a recording of the voice that it is to speak in.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>这是 Base 模型：需要所用声音的录音。</translation>
    </message>
    <message>
        <source>This is a HEIC image, which needs one more package here: pip install pillow-heif. Or save the picture as JPEG or PNG.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>这是 HEIC 图像，需要额外的软件包：pip install pillow-heif。或将图片存为 JPEG 或 PNG。</translation>
    </message>
    <message>
        <source>This is a binary Excel file (xlsb). Save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>这是二进制 Excel 文件 (xlsb)。请将其另存为 xlsx。</translation>
    </message>
    <message>
        <source>This is an Outlook message (msg). Save it as eml, or print it to a PDF.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>这是 Outlook 邮件 (msg)。请将其另存为 eml，或打印为 PDF。</translation>
    </message>
    <message>
        <source>This is an old Excel file (xls). Open it in Excel or LibreOffice, and save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>这是旧版 Excel 文件 (xls)。请在 Excel 或 LibreOffice 中打开，并另存为 xlsx。</translation>
    </message>
    <message>
        <source>This is an old Office file of a kind that is not read. Save it as docx, xlsx or pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>这是无法读取的旧版 Office 文件。请将其另存为 docx、xlsx 或 pptx。</translation>
    </message>
    <message>
        <source>This is an old PowerPoint file (ppt). Open it in PowerPoint or LibreOffice, and save it as pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>这是旧版 PowerPoint 文件 (ppt)。请在 PowerPoint 或 LibreOffice 中打开，并另存为 pptx。</translation>
    </message>
    <message>
        <source>This is an old Word file (doc). Open it in Word or LibreOffice, and save it as docx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>这是旧版 Word 文件 (doc)。请在 Word 或 LibreOffice 中打开，并另存为 docx。</translation>
    </message>
    <message>
        <source>This is neither a document nor an image that can be read.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>这既不是文档，也不是可读取的图像。</translation>
    </message>
    <message>
        <source>This is not an image that can be read: {formats} can.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>这不是可读取的图像。支持：{formats}。</translation>
    </message>
    <message>
        <source>This is the Guide, a tiny helper that answers questions about Grus, in English.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>这是 Guide，一个用英语回答有关 Grus 问题的小助手。</translation>
    </message>
    <message>
        <source>This is too long for the model: over {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>对模型来说过长：超过 {tokens} 个 token，而模型一次可处理 {limit} 个。</translation>
    </message>
    <message>
        <source>This is too long for the model: {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>对模型来说过长：共 {tokens} 个 token，而模型一次可处理 {limit} 个。</translation>
    </message>
    <message>
        <source>This machine could not be checked in time. Refresh in Models tries again.</source>
        <extracomment>engine/machine.py</extracomment>
        <translation>未能及时检查此计算机。在“模型”中点按“刷新”可重试。</translation>
    </message>
    <message>
        <source>This machine only</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>仅本机</translation>
    </message>
    <message>
        <source>This model also needs {model}. Download it in Models.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>此模型还需要 {model}。请在“模型”中下载。</translation>
    </message>
    <message>
        <source>This model creates a voice from a description. Describe one below.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>此模型根据描述生成声音。请在下方描述。</translation>
    </message>
    <message>
        <source>This model does not speak {language}. It speaks {languages}.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>此模型不支持 {language}。支持：{languages}。</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. Choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>此模型不支持声音克隆。请选择支持的模型：Qwen3-TTS Base、Chatterbox 或 Spark-TTS。</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. For “{name}” choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>此模型不支持声音克隆。对于“{name}”，请选择支持的模型：Qwen3-TTS Base、Chatterbox 或 Spark-TTS。</translation>
    </message>
    <message>
        <source>This model has no voices of its own: it needs a recording of the voice.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>此模型没有自带的声音：需要一段该声音的录音。</translation>
    </message>
    <message>
        <source>This model is gated: accept its terms on Hugging Face first. Then enter your token here.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>此模型受限：请先在 Hugging Face 上接受其条款，然后在此输入你的令牌。</translation>
    </message>
    <message>
        <source>This model needs a recorded voice. Create a new voice, or choose one.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>此模型需要录制的声音。请新建声音，或选择一个。</translation>
    </message>
    <message>
        <source>This model speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>此模型说英语，不说 {language}。</translation>
    </message>
    <message>
        <source>This model takes no instructions. The CustomVoice and VoiceDesign models of size 1.7B follow them.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>此模型不接受指令。1.7B 的 CustomVoice 和 VoiceDesign 模型支持指令。</translation>
    </message>
    <message>
        <source>This model was not found.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>未找到此模型。</translation>
    </message>
    <message>
        <source>This month</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>本月</translation>
    </message>
    <message>
        <source>This page has a table. {model} reads tables as tables, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>此页面包含表格。{model} 可将表格读取为表格，在本机上每满页约需 {seconds} 秒。</translation>
    </message>
    <message>
        <source>This picture cannot be drawn.</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>无法绘制此图片。</translation>
    </message>
    <message>
        <source>This picture defines entities, and is not drawn.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>此图片定义了实体，因此不予绘制。</translation>
    </message>
    <message>
        <source>This picture is too large for a preview.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>此图片太大，无法预览。</translation>
    </message>
    <message>
        <source>This release has no file of the kind {kind}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>此版本没有 {kind} 类型的文件。</translation>
    </message>
    <message>
        <source>This system has no program that speaks ({hint}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>此系统没有语音合成程序（{hint}）。</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Chatterbox.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>该声音由另一个模型制作。请用 Chatterbox 重新克隆。</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Spark-TTS.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>此声音由其他模型创建。请用 Spark-TTS 重新克隆。</translation>
    </message>
    <message>
        <source>This week</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>本周</translation>
    </message>
    <message>
        <source>Threads on battery</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>使用电池时的线程数</translation>
    </message>
    <message>
        <source>To another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>到另一台电脑</translation>
    </message>
    <message>
        <source>Today</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>今天</translation>
    </message>
    <message>
        <source>Tokens and time</source>
        <extracomment>app/gui/chat/message_buttons.py</extracomment>
        <translation>token 数和用时</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>每秒 token 数</translation>
    </message>
    <message>
        <source>Too large for this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>对本机来说过大：约需 {needed}，共 {has}。</translation>
    </message>
    <message>
        <source>Tool</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>工具</translation>
    </message>
    <message>
        <source>Tool call: {tool}</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>工具调用：{tool}</translation>
    </message>
    <message>
        <source>Tools</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/settings/tools.py</extracomment>
        <translation>工具</translation>
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
        <translation>重新转写</translation>
    </message>
    <message>
        <source>Transcribe speech</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>转写语音</translation>
    </message>
    <message>
        <source>Transcribes English speech while you talk, on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>边说边转写英语，适合任何电脑。</translation>
    </message>
    <message>
        <source>Transcribes long recordings in 25 European languages, with the time of every word.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>转写 25 种欧洲语言的长录音，并给出每个词的时间。</translation>
    </message>
    <message>
        <source>Transcribes speech in 30 languages, in noise as well.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>转写 30 种语言的语音，在噪声中也可以。</translation>
    </message>
    <message>
        <source>Transcribes speech in 8 languages, and answers questions about a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>转写 8 种语言的语音，并回答关于录音的问题。</translation>
    </message>
    <message>
        <source>Transcribes speech in 99 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>转写 99 种语言的语音。</translation>
    </message>
    <message>
        <source>Transcript</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>转写文本</translation>
    </message>
    <message>
        <source>Transcript of the recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>录音的文字内容</translation>
    </message>
    <message>
        <source>Transcript of the recording, for a closer voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>录音的文字内容，可使声音更相似</translation>
    </message>
    <message>
        <source>Transcription</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>转写</translation>
    </message>
    <message>
        <source>Troubleshooting</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>疑难解答</translation>
    </message>
    <message>
        <source>Turned by 180 degrees.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>已旋转 180 度。</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the left.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>已向左旋转 90 度。</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the right.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>已向右旋转 90 度。</translation>
    </message>
    <message>
        <source>Type a name and press Enter. Only these words are sent, to huggingface.co.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>输入名称并按 Enter。只有这些文字会发送到 huggingface.co。</translation>
    </message>
    <message>
        <source>Type the result of the tool call.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>请输入工具调用的结果。</translation>
    </message>
    <message>
        <source>Type what to search for: a model&apos;s name, or who made it.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>请输入要搜索的内容：模型名称或其发布者。</translation>
    </message>
    <message>
        <source>Understands images and pages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>可理解图像和页面。可选思考。</translation>
    </message>
    <message>
        <source>Understands images, screenshots and charts, and answers questions about them.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>可理解图像、截图和图表，并回答相关问题。</translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>app/gui/bars.py, app/gui/listen/pane.py, app/gui/viewmodels/agents.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/known_voices.py, app/gui/viewmodels/memories.py, app/gui/viewmodels/models/library.py, app/gui/viewmodels/results.py, app/gui/viewmodels/speak.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Unload</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>卸载</translation>
    </message>
    <message>
        <source>Unloading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>正在卸载 {model}。</translation>
    </message>
    <message>
        <source>Unpacking.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>正在解压。</translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Until Grus is closed.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>在关闭 Grus 之前有效。</translation>
    </message>
    <message>
        <source>Untitled</source>
        <extracomment>app/gui/chat/conversation_list.py</extracomment>
        <translation>未命名</translation>
    </message>
    <message>
        <source>Update the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>更新资料库</translation>
    </message>
    <message>
        <source>Updates</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>更新</translation>
    </message>
    <message>
        <source>Use</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>使用</translation>
    </message>
    <message>
        <source>Use a library</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>使用资料库</translation>
    </message>
    <message>
        <source>Use a prompt</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>使用提示词</translation>
    </message>
    <message>
        <source>Use a prompt…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>使用提示词…</translation>
    </message>
    <message>
        <source>Use default</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>使用默认值</translation>
    </message>
    <message>
        <source>Use text in PDFs</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>使用 PDF 中的文本</translation>
    </message>
    <message>
        <source>Use the text layer of a PDF instead of recognizing its image.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>使用 PDF 的文本层，而不识别其图像。</translation>
    </message>
    <message>
        <source>Use tools</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>使用工具</translation>
    </message>
    <message>
        <source>Use {model}</source>
        <extracomment>app/gui/chat/pane.py, app/gui/chat/picture_bar.py</extracomment>
        <translation>使用 {model}</translation>
    </message>
    <message>
        <source>Using the token of the Hugging Face command line, from {file}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>正在使用 Hugging Face 命令行的令牌，来自 {file}。</translation>
    </message>
    <message>
        <source>Variables or headers: NAME=VALUE, one in each line</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>变量或标头：名称=值，每行一个</translation>
    </message>
    <message>
        <source>Verify files</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>校验文件</translation>
    </message>
    <message>
        <source>Verifying</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>正在校验</translation>
    </message>
    <message>
        <source>Verifying the files of {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>正在校验 {model} 的文件。</translation>
    </message>
    <message>
        <source>Vision</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>视觉</translation>
    </message>
    <message>
        <source>Voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>声音</translation>
    </message>
    <message>
        <source>Voice recognition</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>声音识别</translation>
    </message>
    <message>
        <source>Waiting</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py</extracomment>
        <translation>等待中</translation>
    </message>
    <message>
        <source>Waiting for the model.</source>
        <extracomment>app/gui/viewmodels/chat/reply_stream.py, app/window_reply.py</extracomment>
        <translation>正在等待模型。</translation>
    </message>
    <message>
        <source>Watch a folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py</extracomment>
        <translation>监视文件夹</translation>
    </message>
    <message>
        <source>Watching</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>正在监视</translation>
    </message>
    <message>
        <source>Waveform</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>波形</translation>
    </message>
    <message>
        <source>Web page</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>网页</translation>
    </message>
    <message>
        <source>Web page reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>网页阅读器</translation>
    </message>
    <message>
        <source>Web search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>网络搜索</translation>
    </message>
    <message>
        <source>Weights</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>权重</translation>
    </message>
    <message>
        <source>What answered is not Hugging Face. A sign-in page of this network, or a wrong HF_ENDPOINT, may stand in between.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>响应并非来自 Hugging Face。可能是此网络的登录页面，或 HF_ENDPOINT 设置有误。</translation>
    </message>
    <message>
        <source>What appears in the folder is read, and the result is written beside its file.</source>
        <extracomment>app/gui/read/watch.py</extracomment>
        <translation>文件夹中出现的文件会被读取，结果保存在文件旁边。</translation>
    </message>
    <message>
        <source>What can you help me with?</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>你能帮我做什么？</translation>
    </message>
    <message>
        <source>What it is asked leaves this machine.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>向它询问的内容会离开本机。</translation>
    </message>
    <message>
        <source>What its tools are asked leaves this machine.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>向其工具询问的内容会离开本机。</translation>
    </message>
    <message>
        <source>What the model should know and how it should answer.</source>
        <extracomment>app/gui/chat/panel.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>模型应了解的内容以及回答方式。</translation>
    </message>
    <message>
        <source>What the voice is like: an old man, warm and slow</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>声音特点：老年男性，温暖而缓慢</translation>
    </message>
    <message>
        <source>What to read</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>读取内容</translation>
    </message>
    <message>
        <source>What tool servers have to read goes with your message as a file.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>工具服务器提供的内容会作为文件随消息发送。</translation>
    </message>
    <message>
        <source>Where the browser shows an error: the address at which it ended</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>如果浏览器显示错误：它停留的地址</translation>
    </message>
    <message>
        <source>Whole page</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>整页</translation>
    </message>
    <message>
        <source>Window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>窗口</translation>
    </message>
    <message>
        <source>Windows does not let Grus type into this app; the text is in the clipboard. Press Ctrl+V there.</source>
        <extracomment>app/gui/keyboard/windows_paste.py</extracomment>
        <translation>Windows 不允许 Grus 向此应用输入；文字已在剪贴板中。请在该应用中按 Ctrl+V。</translation>
    </message>
    <message>
        <source>With headphones, you can interrupt the voice by speaking. With loudspeakers, turn this off: Grus then listens after it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>使用耳机时，说话即可打断语音。使用扬声器时请关闭此项：Grus 会在说完后再聆听。</translation>
    </message>
    <message>
        <source>Without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>不使用网络和您的文件，并限制时间和内存。</translation>
    </message>
    <message>
        <source>Work offline</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>离线工作</translation>
    </message>
    <message>
        <source>Works in every app. Clear the field for none.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>在所有应用中有效。清空此栏即不使用。</translation>
    </message>
    <message>
        <source>Write NAME=VALUE in each line.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>请在每行写入 名称=值。</translation>
    </message>
    <message>
        <source>Write a message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>输入消息</translation>
    </message>
    <message>
        <source>Write, or drop a document</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>输入文本，或拖入文档</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>昨天</translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>你</translation>
    </message>
    <message>
        <source>You are signed in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>您已登录。</translation>
    </message>
    <message>
        <source>You are signed out of {name} here.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>您已在此退出 {name}。</translation>
    </message>
    <message>
        <source>Your conversations cannot be opened: {reason}. The file is unchanged, and Grus will retry.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>无法打开你的对话：{reason}。文件未更改，Grus 会重试。</translation>
    </message>
    <message>
        <source>Your conversations were saved by a newer version of Grus. Update Grus to open them. The file is unchanged.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>你的对话由更新版本的 Grus 保存。请更新 Grus 后再打开。文件未更改。</translation>
    </message>
    <message>
        <source>Your last changes are not saved yet. Close the window again to discard them.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>最近的更改尚未保存。再次关闭窗口将放弃更改。</translation>
    </message>
    <message>
        <source>Your message was sent.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>消息已发送。</translation>
    </message>
    <message>
        <source>Your settings could not be read. They were saved as {file}, and Grus started with default settings.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>无法读取设置。它们已保存为 {file}，Grus 使用了默认设置。</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>放大</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>缩小</translation>
    </message>
    <message>
        <source>about {n} tokens/s</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>约 {n} token/秒</translation>
    </message>
    <message>
        <source>about {size}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>约 {size}</translation>
    </message>
    <message>
        <source>another program is using it</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>其他程序正在使用</translation>
    </message>
    <message>
        <source>bubblewrap does not run on this machine: {reason}</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>bubblewrap 无法在本机运行：{reason}</translation>
    </message>
    <message>
        <source>chapter {n} of {total}</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>第 {n} 章，共 {total} 章</translation>
    </message>
    <message>
        <source>espeak-ng failed ({reason}).</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>espeak-ng 出错（{reason}）。</translation>
    </message>
    <message>
        <source>fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>快</translation>
    </message>
    <message>
        <source>first token after {time}</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>首个 token 用时 {time}</translation>
    </message>
    <message>
        <source>fits</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>可运行</translation>
    </message>
    <message>
        <source>from disk</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>从磁盘读取</translation>
    </message>
    <message>
        <source>gated</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>受限</translation>
    </message>
    <message>
        <source>give Grus a token of your account: `grus token set`, Settings in the window, or HF_TOKEN</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>提供你账户的令牌：在窗口的“设置”中、用 `grus token set` 或 HF_TOKEN</translation>
    </message>
    <message>
        <source>high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>高</translation>
    </message>
    <message numerus="yes">
        <source>in {n} segments</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>在 {n} 个片段中</numerusform>
        </translation>
    </message>
    <message>
        <source>installed</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>已安装</translation>
    </message>
    <message>
        <source>loaded</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>已加载</translation>
    </message>
    <message>
        <source>low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>低</translation>
    </message>
    <message>
        <source>macOS does not let Grus type into other apps yet: allow it in System Settings, Privacy &amp; Security, Accessibility. The text is in the clipboard.</source>
        <extracomment>app/gui/keyboard/mac_paste.py</extracomment>
        <translation>macOS 尚未允许 Grus 向其他应用输入：请在“系统设置”的“隐私与安全性”的“辅助功能”中允许。文字已在剪贴板中。</translation>
    </message>
    <message>
        <source>moderate</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>中等</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>现在</translation>
    </message>
    <message>
        <source>recommended</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>推荐</translation>
    </message>
    <message>
        <source>slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>慢</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>磁盘已满</translation>
    </message>
    <message>
        <source>the disk reports an error</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>磁盘报告错误</translation>
    </message>
    <message>
        <source>the file cannot be opened</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>无法打开文件</translation>
    </message>
    <message>
        <source>the file is read-only</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>文件为只读</translation>
    </message>
    <message>
        <source>there are too many unsaved changes</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>未保存的更改过多</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>tight</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>勉强</translation>
    </message>
    <message>
        <source>too large</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>过大</translation>
    </message>
    <message>
        <source>vLLM, SGLang, llama-server, LM Studio, Ollama or another Grus. What you send to its models leaves this machine.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>vLLM、SGLang、llama-server、LM Studio、Ollama 或另一个 Grus。您发送给其模型的内容会离开本机。</translation>
    </message>
    <message>
        <source>very fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>很快</translation>
    </message>
    <message>
        <source>very high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>很高</translation>
    </message>
    <message>
        <source>very low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>很低</translation>
    </message>
    <message>
        <source>very slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>很慢</translation>
    </message>
    <message>
        <source>{about} Details: {error}</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{about} 详情：{error}</translation>
    </message>
    <message>
        <source>{app}, {path}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{app}，{path}</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{done}/{total}</translation>
    </message>
    <message>
        <source>{done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>{done}/{total} 个文件</translation>
    </message>
    <message>
        <source>{done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{done}/{total} 页</translation>
    </message>
    <message>
        <source>{file} cannot be read ({why}). Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>无法读取 {file}({why})。请先更正;未做任何更改。</translation>
    </message>
    <message>
        <source>{file} cannot be read, so no voice was changed. Move it away to begin anew.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>无法读取 {file}，因此没有更改任何声音。移走该文件即可重新开始。</translation>
    </message>
    <message>
        <source>{file} cannot be replaced: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>无法替换 {file}：{reason}。</translation>
    </message>
    <message>
        <source>{file} could not be written: {reason}.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>无法写入 {file}：{reason}。</translation>
    </message>
    <message>
        <source>{file} holds no settings. Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} 中没有设置。请先更正;未做任何更改。</translation>
    </message>
    <message>
        <source>{file} holds {name}, which leads out of its folder. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} 中的 {name} 指向文件夹之外。不予导入。</translation>
    </message>
    <message>
        <source>{file} is being changed by another program. Try again in a moment.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>另一个程序正在更改 {file}。请稍后再试。</translation>
    </message>
    <message>
        <source>{file} is damaged: it cannot be unpacked as a whole.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} 已损坏:无法完整解压。</translation>
    </message>
    <message>
        <source>{file} is encrypted. Unpack it, and import what is in it.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} 已加密。请解压后导入其中的内容。</translation>
    </message>
    <message>
        <source>{file} is no export of ChatGPT, Claude, LM Studio, Jan or Open WebUI that can be read.</source>
        <extracomment>app/runtime/imports/exports.py</extracomment>
        <translation>{file} 不是可读取的 ChatGPT、Claude、LM Studio、Jan 或 Open WebUI 导出文件。</translation>
    </message>
    <message>
        <source>{file} is no text in UTF-8. Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} 不是 UTF-8 文本。未做任何更改。</translation>
    </message>
    <message>
        <source>{file} is not there any more.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>{file} 已不存在。</translation>
    </message>
    <message>
        <source>{file} is written in a way that Grus cannot change safely ({why}). Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} 的写法使 Grus 无法安全更改({why})。未做任何更改。</translation>
    </message>
    <message>
        <source>{file} unpacks to more than an export can be. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} 解压后超出导出文件可能的大小。不予导入。</translation>
    </message>
    <message>
        <source>{file}: {reason}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{file}：{reason}。</translation>
    </message>
    <message>
        <source>{folder} contains no model: no config.json with weights, and no GGUF file.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{folder} 中没有模型：既没有带权重的 config.json，也没有 GGUF 文件。</translation>
    </message>
    <message>
        <source>{folder} holds an unfinished audiobook of another text, voice or settings. Delete it, or choose another name.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>{folder} 中有一本未完成的有声书，其文本、声音或设置不同。请删除该文件夹，或选择其他名称。</translation>
    </message>
    <message>
        <source>{free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>可用空间 {free}。</translation>
    </message>
    <message>
        <source>{given} could not be read: {reason}.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>无法读取 {given}：{reason}。</translation>
    </message>
    <message>
        <source>{how_far}, {rate}/s, {left} left</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{how_far}，{rate}/秒，剩余 {left}</translation>
    </message>
    <message>
        <source>{keys} cannot be used. Use a letter, a digit, Space or F1 to F12, with Ctrl, Alt or Meta.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>无法使用 {keys}。请使用字母、数字、空格或 F1 至 F12，并搭配 Ctrl、Alt 或 Meta。</translation>
    </message>
    <message>
        <source>{keys} cannot be used: {error}. Choose other keys.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>无法使用 {keys}：{error}。请选择其他按键。</translation>
    </message>
    <message>
        <source>{kinds}. Search for {name} to download one of these.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{kinds}。搜索 {name} 可下载其中之一。</translation>
    </message>
    <message>
        <source>{model} answers without the images in this conversation.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} 回复时不使用此对话中的图像。</translation>
    </message>
    <message>
        <source>{model} clones no voices from here.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} 无法从这里克隆声音。</translation>
    </message>
    <message>
        <source>{model} does not hear sound.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} 不能听声音。</translation>
    </message>
    <message>
        <source>{model} does not know the task {task}: the page is read as text. PaddleOCR-VL 1.5 knows every task.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} 不支持任务 {task}：页面将作为文本读取。PaddleOCR-VL 1.5 支持所有任务。</translation>
    </message>
    <message>
        <source>{model} does not speak.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} 不能生成语音。</translation>
    </message>
    <message>
        <source>{model} does not speak. Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus and Spark-TTS models do.</source>
        <extracomment>engine/pipelines/speaking/speech_models.py</extracomment>
        <translation>{model} 不能说话。Qwen3-TTS、OmniVoice、Pocket-TTS、Chatterbox、Kokoro、Orpheus 和 Spark-TTS 模型可以。</translation>
    </message>
    <message>
        <source>{model} does not support images.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} 不支持图像。</translation>
    </message>
    <message>
        <source>{model} does not support tool calls. It answers without tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{model} 不支持工具调用，将在没有工具的情况下回答。</translation>
    </message>
    <message>
        <source>{model} does not write whole pages: its regions are read.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} 不能写出整页：将读取页面的各个区域。</translation>
    </message>
    <message>
        <source>{model} has no voices: its folder `voices` is missing. Download it again.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>{model} 没有声音：缺少文件夹 `voices`。请重新下载。</translation>
    </message>
    <message>
        <source>{model} is installed. Its checksums are correct.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{model} 已安装，校验和正确。</translation>
    </message>
    <message>
        <source>{model} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.</source>
        <extracomment>engine/pipelines/reading/layout_model.py</extracomment>
        <translation>{model} 不是版面模型。PaddlePaddle/PP-DocLayoutV2 是版面模型。</translation>
    </message>
    <message>
        <source>{model} is not the id of a repository.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{model} 不是仓库 ID。</translation>
    </message>
    <message>
        <source>{model} is ready.</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} 已就绪。</translation>
    </message>
    <message>
        <source>{model} is ready. Write your first message.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} 已就绪。请写下第一条消息。</translation>
    </message>
    <message>
        <source>{model} reads pages line by line and talks about no images. Read them with grus read.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} 逐行读取页面，不能谈论图像。请在“阅读”中打开。</translation>
    </message>
    <message>
        <source>{model} reads text only and does not see images.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} 仅支持文本，无法查看图像。</translation>
    </message>
    <message>
        <source>{model} reads text, not images. Choose a vision model.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>{model} 读取文本，而非图像。请选择视觉模型。</translation>
    </message>
    <message>
        <source>{model} receives the text of the image.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} 会收到图像中的文字。</translation>
    </message>
    <message>
        <source>{model} runs on another server, which gives no times of words.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} 在另一台服务器上运行，无法提供逐词时间。</translation>
    </message>
    <message>
        <source>{model} transcribes {own}, not {language}. Choose a model for that language.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} 转写 {own}，不支持 {language}。请选择支持该语言的模型。</translation>
    </message>
    <message>
        <source>{model} was deleted. {size} will be freed in 30 seconds.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} 已删除。30 秒后将释放 {size}。</translation>
    </message>
    <message>
        <source>{model} was removed from the list. Its files were not deleted.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} 已从列表中移除。其文件未被删除。</translation>
    </message>
    <message>
        <source>{names}: unsupported format. Supported: WAV, FLAC, MP3, OGG, Opus, AIFF, AU and CAF.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>{names}：不支持的格式。支持的格式：WAV、FLAC、MP3、OGG、Opus、AIFF、AU 和 CAF。</translation>
    </message>
    <message>
        <source>{name} (optional)</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>{name}（可选）</translation>
    </message>
    <message>
        <source>{name} answered something that is not OpenAI&apos;s API. Is the address right?</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 的回答不符合 OpenAI 的 API。地址正确吗？</translation>
    </message>
    <message>
        <source>{name} answered with status {status}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 返回了状态 {status}。</translation>
    </message>
    <message>
        <source>{name} answered with status {status}: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 返回了状态 {status}：{error}</translation>
    </message>
    <message>
        <source>{name} answers from another address. Add the address that it leads to.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 从另一个地址回答。请添加它指向的地址。</translation>
    </message>
    <message>
        <source>{name} answers: what you send leaves this machine.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>由 {name} 回答：您发送的内容会离开本机。</translation>
    </message>
    <message>
        <source>{name} asks you to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} 要求您登录。</translation>
    </message>
    <message>
        <source>{name} cannot be opened. {why}</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>无法打开 {name}。{why}</translation>
    </message>
    <message>
        <source>{name} cannot be opened: it is damaged or password-protected.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>无法打开 {name}：文件已损坏或受密码保护。</translation>
    </message>
    <message>
        <source>{name} cannot be opened: the file is damaged.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>无法打开 {name}：文件已损坏。</translation>
    </message>
    <message>
        <source>{name} cannot be reached: nothing answers at {host}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>无法连接 {name}：{host} 没有响应。</translation>
    </message>
    <message>
        <source>{name} contains no text that can be spoken.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} 不含可朗读的文本。</translation>
    </message>
    <message>
        <source>{name} contains no text.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} 不含文本。</translation>
    </message>
    <message>
        <source>{name} contains no text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/speak.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} 不含文本。请先在“阅读”中打开。</translation>
    </message>
    <message>
        <source>{name} contains scanned pages without text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} 是不含文本的扫描页。请先在“阅读”中打开。</translation>
    </message>
    <message>
        <source>{name} could not be downloaded: {reason}. What arrived is kept.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>无法下载 {name}：{reason}。已下载的部分会保留。</translation>
    </message>
    <message>
        <source>{name} could not be read as sound ({reason}). {formats} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>无法将 {name} 作为声音读取（{reason}）。支持：{formats}。</translation>
    </message>
    <message>
        <source>{name} could not be saved: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>无法保存 {name}：{reason}。</translation>
    </message>
    <message>
        <source>{name} does not know voices again. WavLM models for x-vectors do.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>{name} 不能识别声音。用于 x-vector 的 WavLM 模型可以。</translation>
    </message>
    <message>
        <source>{name} does not listen. Choose a model that does, openai/whisper-small for example.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{name} 不能识别语音。请选择可以识别语音的模型，例如 openai/whisper-small。</translation>
    </message>
    <message>
        <source>{name} does not take this: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 不接受此请求：{error}</translation>
    </message>
    <message>
        <source>{name} does not tell speakers apart. Sortformer models do.</source>
        <extracomment>engine/pipelines/listening/speakers.py</extracomment>
        <translation>{name} 不能区分说话人。Sortformer 模型可以。</translation>
    </message>
    <message>
        <source>{name} ended the connection before the reply was complete.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 在回答完成之前断开了连接。</translation>
    </message>
    <message>
        <source>{name} ended the reply: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 中断了回答：{error}</translation>
    </message>
    <message>
        <source>{name} has no model {model}, or does not do this.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 没有模型 {model}，或不支持此操作。</translation>
    </message>
    <message>
        <source>{name} has written nothing.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} 没有写入任何内容。</translation>
    </message>
    <message>
        <source>{name} has {own} samples a second; {least} to {most} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} 的采样率为每秒 {own}，支持 {least} 到 {most}。</translation>
    </message>
    <message>
        <source>{name} holds no sound.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} 不含声音。</translation>
    </message>
    <message>
        <source>{name} holds samples that are no numbers. The file is damaged.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} 含有无效的采样值。文件已损坏。</translation>
    </message>
    <message>
        <source>{name} ignored response_format: its reply is not JSON.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} 忽略了 response_format：其回答不是 JSON。</translation>
    </message>
    <message>
        <source>{name} ignored response_format: {where} of its reply does not fit the schema.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} 忽略了 response_format：其回答的 {where} 不符合模式。</translation>
    </message>
    <message>
        <source>{name} ignored tool_choice: its reply calls no tool.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} 忽略了 tool_choice：其回答没有调用工具。</translation>
    </message>
    <message>
        <source>{name} is busy, or its limit is reached. Try again later.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 正忙，或已达到限额。请稍后再试。</translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} 为空。</translation>
    </message>
    <message>
        <source>{name} is larger than 512 MB. Choose a smaller file.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} 超过 512 MB。请选择更小的文件。</translation>
    </message>
    <message>
        <source>{name} is longer than {longest}. Split it first.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} 超过 {longest}。请先分割。</translation>
    </message>
    <message>
        <source>{name} is no name for a voice: letters, digits, spaces, dots and dashes, 64 at most.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>{name} 不能作为声音名称：可用字母、数字、空格、点和连字符，最多 64 个字符。</translation>
    </message>
    <message>
        <source>{name} is no name of a speaker: up to 40 letters, digits, spaces and dashes.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py</extracomment>
        <translation>{name} 不是说话人名称：最多 40 个字母、数字、空格和连字符。</translation>
    </message>
    <message>
        <source>{name} is not a book that can be read. Choose one of: {kinds}.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} 不是可读取的书。请选择：{kinds}。</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <extracomment>engine/media/sound.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} 不是文件。</translation>
    </message>
    <message>
        <source>{name} is not a file. Drop files, not folders.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} 不是文件。请拖入文件，而不是文件夹。</translation>
    </message>
    <message>
        <source>{name} is not supported. Attach text, PDFs, images or audio.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>不支持 {name}。请添加文本、PDF、图像或音频。</translation>
    </message>
    <message>
        <source>{name} is not supported. Choose a {endings} file.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>不支持 {name}。请选择 {endings} 文件。</translation>
    </message>
    <message>
        <source>{name} is not the file that was announced. It was deleted.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} 不是所公布的文件，已删除。</translation>
    </message>
    <message>
        <source>{name} is password-protected. Save a copy without a password.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} 受密码保护。请另存一份不带密码的副本。</translation>
    </message>
    <message>
        <source>{name} is set</source>
        <extracomment>engine/hub/offline.py</extracomment>
        <translation>{name} 已设置</translation>
    </message>
    <message>
        <source>{name} lists no models. Name one by hand.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 没有列出模型。请手动输入一个。</translation>
    </message>
    <message>
        <source>{name} refuses the key. Add it again, with the right one.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 拒绝了密钥。请用正确的密钥重新添加。</translation>
    </message>
    <message>
        <source>{name} sent nothing for {seconds} seconds.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 在 {seconds} 秒内没有发送任何内容。</translation>
    </message>
    <message>
        <source>{name} wants a key. Add it again, with its key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} 需要密钥。请连同密钥重新添加。</translation>
    </message>
    <message numerus="yes">
        <source>{name} was added, with {n} models.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>
            <numerusform>已添加 {name}，含 {n} 个模型。</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} was not asked, because {why}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>未询问 {name}：{why}。</translation>
    </message>
    <message>
        <source>{name} writes no text. Give it as the layout, and a vision model as the model.</source>
        <extracomment>engine/pipelines/reading/text_lines.py</extracomment>
        <translation>{name} 不能生成文本。请选择视觉模型。</translation>
    </message>
    <message>
        <source>{name}: {level}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>{name}：{level}</translation>
    </message>
    <message>
        <source>{now} now, at most {most} in the last two minutes</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>当前 {now}，最近两分钟最高 {most}</translation>
    </message>
    <message numerus="yes">
        <source>{n} active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>
            <numerusform>{n} 个活动请求。</numerusform>
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
            <numerusform>已导入 {n} 个对话。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>{n} 个文档</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} 个文档无法读取</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents saved in {folder}.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>
            <numerusform>已将 {n} 个文档保存到 {folder}。</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} downloads per month</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>每月下载 {n} 次</translation>
    </message>
    <message numerus="yes">
        <source>{n} files</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} 个文件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} files read</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>已读取 {n} 个文件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} libraries</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} 个资料库</numerusform>
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
            <numerusform>{n} 页未读取</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>
            <numerusform>{n} 页</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages have no text, and no model is here that reads them.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} 页没有文本，且没有可读取它们的模型。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} passages left to embed</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>还有 {n} 个段落待向量化</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} places replaced</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>已替换 {n} 处</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} requests are waiting already. Try again later.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>已有 {n} 个请求在等待。请稍后重试。</translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>
            <numerusform>{n} 个 token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} tools</source>
        <extracomment>app/gui/settings/tools.py, app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} 个工具</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} were there already.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} 个已存在。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} words</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>
            <numerusform>{n} 个词</numerusform>
        </translation>
    </message>
    <message>
        <source>{one} and {other}</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>{one} 和 {other}</translation>
    </message>
    <message>
        <source>{origin} is not a valid origin. Enter one like https://app.example, or * for all.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>{origin} 不是有效的来源。请输入类似 https://app.example 的来源，或输入 * 表示全部。</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <extracomment>engine/media/documents.py, engine/pipelines/reading/watching.py, engine/pipelines/speaking/pronunciation.py, app/runtime/remote/chat.py</extracomment>
        <translation>无法读取 {path}：{reason}。</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>无法写入 {path}：{reason}。</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}.</source>
        <extracomment>engine/media/audiobook_file.py, engine/media/recordings.py, engine/media/sound.py, engine/pipelines/speaking/passage_store.py, engine/pipelines/speaking/spoken_epub.py</extracomment>
        <translation>未能写入 {path}：{reason}。</translation>
    </message>
    <message>
        <source>{path} is a folder.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} 是文件夹。</translation>
    </message>
    <message>
        <source>{path} is larger than the memory that is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} 大于可用内存。</translation>
    </message>
    <message>
        <source>{path} is no text in UTF-8.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{path} 不是 UTF-8 文本。</translation>
    </message>
    <message>
        <source>{path} is not the index of a library.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>{path} 不是资料库的索引。</translation>
    </message>
    <message>
        <source>{program} (not installed)</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program}(未安装)</translation>
    </message>
    <message>
        <source>{program} has its earlier settings again.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} 已恢复先前的设置。</translation>
    </message>
    <message>
        <source>{program} is disconnected. What you changed in {file} since stays.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} 已断开。您之后在 {file} 中的更改会保留。</translation>
    </message>
    <message>
        <source>{program} is not installed: there is no command {command}. Install it first: {how}</source>
        <extracomment>app/agents/programs.py</extracomment>
        <translation>{program} 未安装:没有命令 {command}。请先安装:{how}</translation>
    </message>
    <message>
        <source>{program} uses this server now.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} 现在使用此服务器。</translation>
    </message>
    <message>
        <source>{program} uses this server now. Enter the key in its settings, too.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} 现在使用此服务器。请同时在其设置中输入密钥。</translation>
    </message>
    <message>
        <source>{program} uses this server now. Its earlier settings are kept in {file}.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} 现在使用此服务器。先前的设置保存在 {file}。</translation>
    </message>
    <message>
        <source>{program} was not connected by Grus: there is nothing to take back.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{program} 不是由 Grus 连接的:没有可撤销的内容。</translation>
    </message>
    <message>
        <source>{rate} tokens/s</source>
        <extracomment>app/gui/bars.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{rate} token/秒</translation>
    </message>
    <message>
        <source>{reason}. Grus stays offline until it is restarted without it.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{reason}。在不带此设置重新启动之前，Grus 保持离线。</translation>
    </message>
    <message>
        <source>{repo} cannot be saved{where}: {reason}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>无法保存 {repo}{where}：{reason}。</translation>
    </message>
    <message>
        <source>{repo} could not be downloaded: {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>无法下载 {repo}：{reason}</translation>
    </message>
    <message>
        <source>{repo} has a file that is larger than this disk or account may hold{where}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} 中有文件超过此磁盘或账户允许的大小{where}。</translation>
    </message>
    <message>
        <source>{repo} has no revision {revision}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} 没有修订版本 {revision}。</translation>
    </message>
    <message>
        <source>{repo} holds no model files.</source>
        <extracomment>engine/hub/download.py, engine/hub/searching.py</extracomment>
        <translation>{repo} 不含模型文件。</translation>
    </message>
    <message>
        <source>{repo} holds no tokenizer, and its name, which does not end in -GGUF, tells no other repository. Put a tokenizer.json beside the file.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} 不含分词器，且名称不以 -GGUF 结尾，无法得知其他仓库。请将 tokenizer.json 放在该文件旁边。</translation>
    </message>
    <message>
        <source>{repo} is gated, and your token does not open it. Accept its terms on {site}/{repo} with the same account, and wait until its makers have let you in.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} 受限，你的令牌无权访问。请用同一账户在 {site}/{repo} 上接受条款，并等待发布者批准。</translation>
    </message>
    <message>
        <source>{repo} is gated. Accept its terms on {site}/{repo}, then {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} 受限。请在 {site}/{repo} 上接受条款，然后{advice}。</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and Hugging Face cannot be reached. Check the network.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} 不在本机，且无法连接 Hugging Face。请检查网络。</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and {why}, so it cannot be downloaded.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} 不在本机，且无法下载：{why}。</translation>
    </message>
    <message>
        <source>{repo} is not on this machine, and {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} 不在本机。{reason}</translation>
    </message>
    <message>
        <source>{repo} is not the id of a repository.</source>
        <extracomment>engine/hub/client.py, engine/hub/searching.py</extracomment>
        <translation>{repo} 不是仓库 ID。</translation>
    </message>
    <message>
        <source>{repo} needs {needed}, but {there} has only {free} left.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} 需要 {needed}，但 {there} 仅剩 {free}。</translation>
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
        <translation>模型 {size}，Grus 共 {whole}</translation>
    </message>
    <message>
        <source>{size} in memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>内存占用 {size}</translation>
    </message>
    <message>
        <source>{size} of experts have no room in memory and stay in the file. Replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} 的专家放不进内存，留在文件中。回复速度取决于磁盘。</translation>
    </message>
    <message>
        <source>{size} of memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} 内存</translation>
    </message>
    <message>
        <source>{speed} here</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>本机 {speed}</translation>
    </message>
    <message>
        <source>{time} h</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} 小时</translation>
    </message>
    <message>
        <source>{time} left</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>剩余 {time}</translation>
    </message>
    <message>
        <source>{time} min</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} 分钟</translation>
    </message>
    <message>
        <source>{time} s</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} 秒</translation>
    </message>
    <message>
        <source>{time} total</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>总计 {time}</translation>
    </message>
    <message>
        <source>{title} (copy)</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>{title}（副本）</translation>
    </message>
    <message>
        <source>{title} has not been read yet.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{title} 尚未读取。</translation>
    </message>
    <message>
        <source>{title} must be between {low} and {high}.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>{title} 必须介于 {low} 和 {high} 之间。</translation>
    </message>
    <message>
        <source>{tokens} tokens do not fit into the memory for sequences ({limit} MiB). Shorten the prompt, raise the memory limit, or quantize the cache.</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>{tokens} 个 token 超出序列内存（{limit} MiB）。请缩短提示词、提高内存上限，或量化缓存。</translation>
    </message>
    <message>
        <source>{tool} failed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} 失败。</translation>
    </message>
    <message>
        <source>{tool} is asked over the network: {question}</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>正在通过网络询问 {tool}：{question}</translation>
    </message>
    <message>
        <source>{tool} is running.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} 正在运行。</translation>
    </message>
    <message>
        <source>{tool} was not allowed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} 未获允许。</translation>
    </message>
    <message>
        <source>{tool} was stopped.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} 已停止。</translation>
    </message>
    <message>
        <source>{tool} was used.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>已使用 {tool}。</translation>
    </message>
    <message>
        <source>{variable} is set and takes precedence over a token stored here.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{variable} 已设置，优先于此处存储的令牌。</translation>
    </message>
    <message>
        <source>{weights} weights, {talk} KV cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>权重 {weights}，KV 缓存 {talk}</translation>
    </message>
    <message>
        <source>{words} is too much. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>{words} 太大了。{how}</translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/results.py</extracomment>
        <translation>“{title}”已删除。</translation>
    </message>
    <message>
        <source>“{title}” was removed from the list. The file was not deleted.</source>
        <extracomment>app/gui/viewmodels/results.py</extracomment>
        <translation>“{title}”已从列表中移除。文件未被删除。</translation>
    </message>
    <message>
        <source>“{title}” was removed. The folder and its documents were not changed.</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>已移除“{title}”。文件夹及其中的文档未被更改。</translation>
    </message>
</context>
</TS>
