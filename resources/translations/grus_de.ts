<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>grus</name>
    <message>
        <source>0 always picks the most likely token. Higher values give more varied replies.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>0 nimmt immer das wahrscheinlichste Token. Höhere Werte machen Antworten abwechslungsreicher.</translation>
    </message>
    <message>
        <source>2 minutes ago</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>vor 2 Minuten</translation>
    </message>
    <message>
        <source>3 to 15 seconds of one voice are best.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Am besten sind 3 bis 15 Sekunden einer einzigen Stimme.</translation>
    </message>
    <message>
        <source>A Pocket-TTS model speaks one language, which is not chosen: leave it at automatic.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Ein Pocket-TTS-Modell spricht eine einzige Sprache, die nicht gewählt wird: Lassen Sie sie auf „automatisch“.</translation>
    </message>
    <message>
        <source>A cloned voice keeps the pitch and pace of its recording.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Eine geklonte Stimme behält Tonhöhe und Tempo ihrer Aufnahme.</translation>
    </message>
    <message>
        <source>A fact has at least one word.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>Eine Tatsache hat mindestens ein Wort.</translation>
    </message>
    <message>
        <source>A fact has at most {most} characters, and this one has {n}.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>Eine Tatsache hat höchstens {most} Zeichen, und diese hat {n}.</translation>
    </message>
    <message>
        <source>A file</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Eine Datei</translation>
    </message>
    <message>
        <source>A key is one word of letters, digits and signs.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Ein Schlüssel ist ein Wort aus Buchstaben, Ziffern und Zeichen.</translation>
    </message>
    <message>
        <source>A line for each word: word = how it is said. Phonemes between slashes are for Kokoro.</source>
        <extracomment>app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Eine Zeile je Wort: Wort = wie es gesprochen wird. Phoneme zwischen Schrägstrichen sind für Kokoro.</translation>
    </message>
    <message>
        <source>A model may call these in conversations where you switch them on. You are asked before each call.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ein Modell darf diese in Unterhaltungen aufrufen, in denen Sie sie einschalten. Vor jedem Aufruf werden Sie gefragt.</translation>
    </message>
    <message>
        <source>A model that calls tools may propose a fact. You are asked before it is kept, and can edit or delete it here.</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Ein Modell, das Tools aufruft, kann eine Tatsache vorschlagen. Sie werden gefragt, bevor sie gespeichert wird, und können sie hier bearbeiten oder löschen.</translation>
    </message>
    <message>
        <source>A new version is downloaded over https only.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Neue Versionen werden nur über https heruntergeladen.</translation>
    </message>
    <message>
        <source>A part of the file is missing: {name}.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Ein Teil der Datei fehlt: {name}.</translation>
    </message>
    <message>
        <source>A prompt goes into the message field, where you can change it before you send it.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Ein Prompt kommt in das Nachrichtenfeld, wo Sie ihn vor dem Senden ändern können.</translation>
    </message>
    <message>
        <source>A recording must be one row of finite samples.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Eine Aufnahme muss eine einzelne Reihe endlicher Abtastwerte sein.</translation>
    </message>
    <message>
        <source>A reply is being written in another conversation. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>In einer anderen Unterhaltung wird gerade eine Antwort geschrieben. Warten Sie, oder stoppen Sie sie.</translation>
    </message>
    <message>
        <source>A reply is being written. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>Es wird gerade eine Antwort geschrieben. Warten Sie darauf, oder stoppen Sie sie.</translation>
    </message>
    <message>
        <source>A saved voice is not sent to a server elsewhere.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>Eine gespeicherte Stimme wird nicht an einen entfernten Server gesendet.</translation>
    </message>
    <message>
        <source>A server&apos;s address holds no password, no question mark and no hash. The key is asked for.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Die Adresse eines Servers enthält kein Passwort, kein Fragezeichen und keine Raute. Nach dem Schlüssel wird gefragt.</translation>
    </message>
    <message>
        <source>A server&apos;s address is like http://192.168.1.5:8000 or https://example.org/v1.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Die Adresse eines Servers sieht so aus: http://192.168.1.5:8000 oder https://example.org/v1.</translation>
    </message>
    <message>
        <source>A server&apos;s name has up to 40 letters, digits, dots and dashes: {name} does not fit.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Der Name eines Servers hat bis zu 40 Buchstaben, Ziffern, Punkte und Bindestriche: {name} passt nicht.</translation>
    </message>
    <message>
        <source>A step of the engine failed: {kind}: {error}</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>Ein Schritt der Engine ist fehlgeschlagen: {kind}: {error}</translation>
    </message>
    <message>
        <source>A system library for sound is missing ({error}). On Debian and Ubuntu: sudo apt-get install libpulse0</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Eine Systembibliothek für Ton fehlt ({error}). Unter Debian und Ubuntu: sudo apt-get install libpulse0</translation>
    </message>
    <message>
        <source>A token is one word of letters and digits, such as hf_... on your Hugging Face page.</source>
        <extracomment>engine/hub/token.py</extracomment>
        <translation>Ein Token ist ein Wort aus Buchstaben und Ziffern, zum Beispiel hf_... auf Ihrer Hugging-Face-Seite.</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring, but the keyring cannot be opened.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Im Schlüsselbund des Systems ist ein Token gespeichert, aber der Schlüsselbund lässt sich nicht öffnen.</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Im Schlüsselbund des Systems ist ein Token gespeichert.</translation>
    </message>
    <message>
        <source>A token is stored in {file}, which only you can read. No system keyring is available.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>In {file} ist ein Token gespeichert; nur Sie können die Datei lesen. Es ist kein Schlüsselbund des Systems verfügbar.</translation>
    </message>
    <message>
        <source>A voice needs a name and a recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Eine Stimme braucht einen Namen und eine Aufnahme.</translation>
    </message>
    <message>
        <source>Above 1, tokens that already occurred become less likely.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Über 1 werden Token, die schon vorkamen, unwahrscheinlicher.</translation>
    </message>
    <message>
        <source>Access</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Zugriff</translation>
    </message>
    <message>
        <source>Accurate answers and reasoning, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Genaue Antworten und Schlussfolgern, für Geräte mit 16 GB.</translation>
    </message>
    <message>
        <source>Accurate answers at the speed of a small model: 4 of 26 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Genaue Antworten mit dem Tempo eines kleinen Modells: 4 von 26 Milliarden Parametern sind je Token aktiv. Für 32 GB.</translation>
    </message>
    <message>
        <source>Accurate everyday answers in more than 100 languages, for machines with 8 to 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Genaue Antworten für den Alltag in mehr als 100 Sprachen, für Geräte mit 8 bis 16 GB.</translation>
    </message>
    <message>
        <source>Accurate long answers, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Genaue lange Antworten, für 32 GB schnellen Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>Active requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Aktive Anfragen</translation>
    </message>
    <message>
        <source>Add</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add a fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Tatsache hinzufügen</translation>
    </message>
    <message>
        <source>Add a fact, and press Enter</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Tatsache hinzufügen und Eingabetaste drücken</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <extracomment>app/gui/libraries/pane.py, app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Ordner hinzufügen</translation>
    </message>
    <message>
        <source>Add a folder of documents…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Ordner mit Dokumenten hinzufügen…</translation>
    </message>
    <message>
        <source>Add a model folder</source>
        <extracomment>app/gui/chat/pane.py, app/gui/model_box.py, app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Modellordner hinzufügen</translation>
    </message>
    <message>
        <source>Add a model folder…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Modellordner hinzufügen …</translation>
    </message>
    <message>
        <source>Add a server</source>
        <extracomment>app/gui/models/pane.py, app/gui/models/remote_form.py</extracomment>
        <translation>Server hinzufügen</translation>
    </message>
    <message>
        <source>Add an MCP server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>MCP-Server hinzufügen</translation>
    </message>
    <message>
        <source>Add audio files</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Audiodateien hinzufügen</translation>
    </message>
    <message>
        <source>Add files</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Dateien hinzufügen</translation>
    </message>
    <message>
        <source>Add files…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Dateien hinzufügen…</translation>
    </message>
    <message>
        <source>Add from JSON</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Aus JSON hinzufügen</translation>
    </message>
    <message>
        <source>Add server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Server hinzufügen</translation>
    </message>
    <message>
        <source>Add tools…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Werkzeuge hinzufügen …</translation>
    </message>
    <message>
        <source>Added from {folder}: {models}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Aus {folder} hinzugefügt: {models}.</translation>
    </message>
    <message>
        <source>Added: {names}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Hinzugefügt: {names}.</translation>
    </message>
    <message>
        <source>Added: {names}. Left out: {fields}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Hinzugefügt: {names}. Ausgelassen: {fields}.</translation>
    </message>
    <message>
        <source>Address</source>
        <extracomment>app/gui/models/remote_form.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Address of the search</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Adresse der Suche</translation>
    </message>
    <message>
        <source>Adds what the file contains. Settings with the same name are replaced.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Fügt hinzu, was die Datei enthält. Einstellungen mit demselben Namen werden ersetzt.</translation>
    </message>
    <message>
        <source>All</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Alle</translation>
    </message>
    <message>
        <source>All files of {model} are intact.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Alle Dateien von {model} sind unversehrt.</translation>
    </message>
    <message>
        <source>All pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Alle Seiten</translation>
    </message>
    <message>
        <source>Allow</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Erlauben</translation>
    </message>
    <message>
        <source>Allow in this conversation</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>In dieser Unterhaltung erlauben</translation>
    </message>
    <message>
        <source>Allow once</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Einmal erlauben</translation>
    </message>
    <message>
        <source>Allow {tool}?</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} erlauben?</translation>
    </message>
    <message>
        <source>Allowed web origins (CORS)</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Erlaubte Web-Ursprünge (CORS)</translation>
    </message>
    <message>
        <source>Also available as</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Auch verfügbar als</translation>
    </message>
    <message>
        <source>Always</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Immer</translation>
    </message>
    <message>
        <source>Always allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Immer erlauben</translation>
    </message>
    <message>
        <source>Among how many devices a text model is split, which compute it together. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Auf wie viele Geräte ein Textmodell aufgeteilt wird, die es gemeinsam berechnen. Gilt für Modelle, die ab jetzt geladen werden.</translation>
    </message>
    <message>
        <source>An audiobook is written as {kinds}, not as {ending}.</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>Ein Hörbuch wird als {kinds} geschrieben, nicht als {ending}.</translation>
    </message>
    <message>
        <source>Analyzing the recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Die Aufnahme wird analysiert.</translation>
    </message>
    <message>
        <source>Another name</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>Anderer Name</translation>
    </message>
    <message>
        <source>Another process is making this audiobook now: {folder}.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>Ein anderer Prozess erstellt dieses Hörbuch gerade: {folder}.</translation>
    </message>
    <message>
        <source>Answers next: {models}.</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Antwortet danach: {models}.</translation>
    </message>
    <message>
        <source>Answers the next message, too.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Beantwortet die nächste Nachricht ebenfalls.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Darstellung</translation>
    </message>
    <message>
        <source>Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Gilt nach einem Neustart von Grus.</translation>
    </message>
    <message>
        <source>Architecture</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Architektur</translation>
    </message>
    <message>
        <source>Arguments</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Argumente</translation>
    </message>
    <message>
        <source>Ask</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Fragen</translation>
    </message>
    <message>
        <source>Ask about images: a vision model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Fragen zu Bildern stellen: ein Modell, das Bilder versteht.</translation>
    </message>
    <message>
        <source>Ask anything</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Fragen Sie, was Sie möchten</translation>
    </message>
    <message>
        <source>Ask in Chat</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Im Chat fragen</translation>
    </message>
    <message>
        <source>Ask your documents</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Dokumente befragen</translation>
    </message>
    <message>
        <source>Asking the server for its models.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Der Server wird nach seinen Modellen gefragt.</translation>
    </message>
    <message>
        <source>Asking the tool servers.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Die Werkzeugserver werden gefragt.</translation>
    </message>
    <message>
        <source>Asking {name} where to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} wird gefragt, wo Sie sich anmelden.</translation>
    </message>
    <message>
        <source>At most {n} models are compared.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>Höchstens {n} Modelle werden verglichen.</translation>
    </message>
    <message>
        <source>Attach</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Anhängen</translation>
    </message>
    <message>
        <source>Attach a resource</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>Ressource anhängen</translation>
    </message>
    <message>
        <source>Attach a resource…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>Ressource anhängen…</translation>
    </message>
    <message>
        <source>Attach files</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>Attachments</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Anhänge</translation>
    </message>
    <message>
        <source>Audio</source>
        <extracomment>app/gui/listen/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Audio</translation>
    </message>
    <message>
        <source>Audiobooks are written through PyAV, which is missing here: pip install av</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>Hörbücher werden mit PyAV geschrieben, das hier fehlt: pip install av</translation>
    </message>
    <message>
        <source>Automatic</source>
        <extracomment>app/gui/viewmodels/settings.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Backend</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Backend</translation>
    </message>
    <message>
        <source>Backend and device apply to models loaded from now on. The memory limit applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Backend und Gerät gelten für Modelle, die ab jetzt geladen werden. Die Speichergrenze gilt nach einem Neustart von Grus.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Broad knowledge and quick answers: 3 of 35 billion parameters are active per token. For 32 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Breites Wissen und schnelle Antworten: 3 von 35 Milliarden Parametern sind je Token aktiv. Ab 32 GB.</translation>
    </message>
    <message>
        <source>CUDA pack {version} is installed.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>CUDA-Paket {version} ist installiert.</translation>
    </message>
    <message>
        <source>Calculator</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Rechner</translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>app/gui/chat/server_items.py, app/gui/models/remote_form.py, app/gui/read/pane.py, app/gui/settings/cuda_pack.py, app/gui/settings/pane.py, app/gui/settings/tools.py, app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Cancel editing</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Bearbeiten abbrechen</translation>
    </message>
    <message>
        <source>Cancel reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Lesen abbrechen</translation>
    </message>
    <message>
        <source>Cancel the selected request</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Ausgewählte Anfrage abbrechen</translation>
    </message>
    <message>
        <source>Caption</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Bildunterschrift</translation>
    </message>
    <message>
        <source>Capture part of the screen</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Bildschirmausschnitt aufnehmen</translation>
    </message>
    <message>
        <source>Chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Kapitel</translation>
    </message>
    <message>
        <source>Chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Diagramm</translation>
    </message>
    <message>
        <source>Chat</source>
        <extracomment>app/gui/chat/actions.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Chat with this model</source>
        <extracomment>app/gui/models/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Mit diesem Modell chatten</translation>
    </message>
    <message>
        <source>Chatterbox does not understand the instruction {words}. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox versteht die Anweisung {words} nicht. {how}</translation>
    </message>
    <message>
        <source>Chatterbox has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox hat keine Stimme {name}. Vorhanden: {voices}.</translation>
    </message>
    <message>
        <source>Check for new versions of Grus when it starts?</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Beim Start nach neuen Versionen von Grus suchen?</translation>
    </message>
    <message>
        <source>Check for new versions when Grus starts</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Beim Start nach neuen Versionen suchen</translation>
    </message>
    <message>
        <source>Check now</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Jetzt suchen</translation>
    </message>
    <message>
        <source>Checking for a new version failed: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Die Suche nach einer neuen Version ist fehlgeschlagen: {reason}.</translation>
    </message>
    <message>
        <source>Checking for a new version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Nach einer neuen Version wird gesucht.</translation>
    </message>
    <message>
        <source>Checking the keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Der Schlüsselbund wird geprüft.</translation>
    </message>
    <message>
        <source>Checking this machine.</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Dieses Gerät wird geprüft.</translation>
    </message>
    <message>
        <source>Choose</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Auswählen</translation>
    </message>
    <message>
        <source>Choose a file</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Datei wählen</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <extracomment>app/gui/read/watch.py, app/gui/settings/speculation.py, app/gui/settings/tools.py</extracomment>
        <translation>Ordner wählen</translation>
    </message>
    <message>
        <source>Choose a folder for downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Ordner für heruntergeladene Modelle auswählen</translation>
    </message>
    <message>
        <source>Choose a model first, in the menu above the conversation.</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Wählen Sie zuerst ein Modell im Menü über der Unterhaltung.</translation>
    </message>
    <message>
        <source>Choose a preset voice or a recording, not both.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Wählen Sie eine vorgegebene Stimme oder eine Aufnahme, nicht beides.</translation>
    </message>
    <message>
        <source>Choose either a preset voice or a cloned one, not both.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py, engine/pipelines/speaking/spark.py</extracomment>
        <translation>Wählen Sie entweder eine vorgegebene oder eine geklonte Stimme, nicht beides.</translation>
    </message>
    <message>
        <source>Choose libraries…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Bibliotheken wählen…</translation>
    </message>
    <message>
        <source>Choose the folder of a draft model</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Ordner eines Entwurfsmodells wählen</translation>
    </message>
    <message>
        <source>Choose the model</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Modell auswählen</translation>
    </message>
    <message>
        <source>Choose the reply to continue with.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Wählen Sie die Antwort, mit der es weitergeht.</translation>
    </message>
    <message>
        <source>Choose tools…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Werkzeuge wählen…</translation>
    </message>
    <message>
        <source>Clean up dictation</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Diktat überarbeiten</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/models/pane.py</extracomment>
        <translation>Suche leeren</translation>
    </message>
    <message>
        <source>Click to name the speaker.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Klicken, um den Sprecher zu benennen.</translation>
    </message>
    <message>
        <source>Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Zum Abspielen klicken.</translation>
    </message>
    <message>
        <source>Clones a voice from a recording of a few seconds.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Klont eine Stimme aus einer Aufnahme von wenigen Sekunden.</translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>app/gui/chat/offer.py, app/gui/logview.py, app/gui/palette.py</extracomment>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close the preview</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Vorschau schließen</translation>
    </message>
    <message>
        <source>Close the search</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>Suche schließen</translation>
    </message>
    <message>
        <source>Close this message</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Meldung schließen</translation>
    </message>
    <message>
        <source>Close window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Fenster schließen</translation>
    </message>
    <message>
        <source>Code</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/preview_panel.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Code</translation>
    </message>
    <message>
        <source>Code and long chains of tool calls: 3 of 30 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Code und lange Folgen von Tool-Aufrufen: 3 von 30 Milliarden Parametern sind je Token aktiv. Für 32 GB.</translation>
    </message>
    <message>
        <source>Colours</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Command or address</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Befehl oder Adresse</translation>
    </message>
    <message>
        <source>Command palette</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Befehlspalette</translation>
    </message>
    <message>
        <source>Compare models</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Modelle vergleichen</translation>
    </message>
    <message>
        <source>Compute</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>Computes expressions.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Berechnet Ausdrücke.</translation>
    </message>
    <message>
        <source>Connect an agent</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Agenten verbinden</translation>
    </message>
    <message>
        <source>Connect from</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Verbinden mit</translation>
    </message>
    <message>
        <source>Connect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} verbinden</translation>
    </message>
    <message>
        <source>Context</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Continue reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Weiterlesen</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Continue with the first reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mit der ersten Antwort fortfahren</translation>
    </message>
    <message>
        <source>Continue with the second reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mit der zweiten Antwort fortfahren</translation>
    </message>
    <message>
        <source>Continue with the third reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mit der dritten Antwort fortfahren</translation>
    </message>
    <message>
        <source>Continue with this</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Damit fortfahren</translation>
    </message>
    <message>
        <source>Conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/transcript.py</extracomment>
        <translation>Unterhaltung</translation>
    </message>
    <message>
        <source>Conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>Unterhaltungen</translation>
    </message>
    <message>
        <source>Conversations, facts, results, voices and settings as one file. Server keys, the Hugging Face token and models stay here.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Unterhaltungen, Tatsachen, Ergebnisse, Stimmen und Einstellungen als eine Datei. Serverschlüssel, das Hugging-Face-Token und Modelle bleiben hier.</translation>
    </message>
    <message>
        <source>Conversations, results and voices</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Unterhaltungen, Ergebnisse und Stimmen</translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py</extracomment>
        <translation>Kopiert.</translation>
    </message>
    <message>
        <source>Copy</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/dictation_key.py, app/gui/logview.py</extracomment>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy as spoken</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Wortlaut kopieren</translation>
    </message>
    <message>
        <source>Copy snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Codeausschnitt kopieren</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <extracomment>app/gui/server/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Adresse kopieren</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Code kopieren</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Schlüssel kopieren</translation>
    </message>
    <message>
        <source>Copy the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Letzten Code kopieren</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nachricht kopieren</translation>
    </message>
    <message>
        <source>Copy the region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Bereich kopieren</translation>
    </message>
    <message>
        <source>Copy the text</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Text kopieren</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Konnte nicht gelesen werden</translation>
    </message>
    <message>
        <source>Could not delete: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Löschen nicht möglich: {error}.</translation>
    </message>
    <message>
        <source>Could not save: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Speichern nicht möglich: {error}.</translation>
    </message>
    <message>
        <source>Create key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Schlüssel erstellen</translation>
    </message>
    <message>
        <source>Creates a voice from a description.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Erzeugt eine Stimme aus einer Beschreibung.</translation>
    </message>
    <message>
        <source>Creative</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Kreativ</translation>
    </message>
    <message>
        <source>Damaged: {files}. Delete {model} and download it again.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Beschädigt: {files}. Löschen Sie {model} und laden Sie es noch einmal.</translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Date and time</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Datum und Uhrzeit</translation>
    </message>
    <message>
        <source>Default</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/speak/pane.py</extracomment>
        <translation>Standard</translation>
    </message>
    <message>
        <source>Default text size</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Standardschriftgröße</translation>
    </message>
    <message>
        <source>Defaults of this model</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Standardwerte dieses Modells</translation>
    </message>
    <message>
        <source>Delete</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Delete all</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Alles löschen</translation>
    </message>
    <message>
        <source>Delete all conversations, results, voices, files and settings of Grus? This cannot be undone.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Alle Unterhaltungen, Ergebnisse, Stimmen, Dateien und Einstellungen von Grus löschen? Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Delete all now</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Jetzt alles löschen</translation>
    </message>
    <message>
        <source>Delete the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Unterhaltung löschen</translation>
    </message>
    <message>
        <source>Delete the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Schlüssel löschen</translation>
    </message>
    <message>
        <source>Delete the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nachricht löschen</translation>
    </message>
    <message>
        <source>Delete the model</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Modell löschen</translation>
    </message>
    <message>
        <source>Delete the preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Voreinstellung löschen</translation>
    </message>
    <message>
        <source>Delete the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Stimme löschen</translation>
    </message>
    <message>
        <source>Delete this fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Diese Tatsache löschen</translation>
    </message>
    <message>
        <source>Describe the voice: this VoiceDesign model makes one from instructions.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Beschreiben Sie die Stimme: Dieses VoiceDesign-Modell erzeugt sie aus Anweisungen.</translation>
    </message>
    <message>
        <source>Detect language</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Sprache erkennen</translation>
    </message>
    <message>
        <source>Device</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Dictate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Diktieren</translation>
    </message>
    <message>
        <source>Dictate and talk: a speech recognition model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Diktieren und Gespräche führen: ein Modell für Spracherkennung.</translation>
    </message>
    <message>
        <source>Dictating. Press again to stop.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Diktat läuft. Zum Beenden noch einmal drücken.</translation>
    </message>
    <message>
        <source>Dictation</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Diktat</translation>
    </message>
    <message>
        <source>Dictation into other apps needs a desktop. In a message, Ctrl+Shift+V dictates.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Das Diktieren in andere Apps braucht eine Desktop-Umgebung. In einer Nachricht diktiert Strg+Umschalt+V.</translation>
    </message>
    <message>
        <source>Dictation key</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Diktiertaste</translation>
    </message>
    <message>
        <source>Discard</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Disconnect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} trennen</translation>
    </message>
    <message>
        <source>Disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>Document reading (OCR)</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Dokumente lesen (OCR)</translation>
    </message>
    <message>
        <source>Document search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Dokumentsuche</translation>
    </message>
    <message>
        <source>Documents</source>
        <extracomment>app/gui/read/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Dokumente</translation>
    </message>
    <message>
        <source>Documents that could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Dokumente, die nicht gelesen werden konnten</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Nicht erlauben</translation>
    </message>
    <message>
        <source>Done</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/settings/cuda_pack.py, app/gui/settings/updates.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Download a model first.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>Laden Sie zuerst ein Modell.</translation>
    </message>
    <message>
        <source>Download, pause or resume</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Herunterladen, pausieren oder fortsetzen</translation>
    </message>
    <message>
        <source>Downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Heruntergeladene Modelle</translation>
    </message>
    <message>
        <source>Downloading</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Werden heruntergeladen</translation>
    </message>
    <message>
        <source>Downloading {model} from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{model} wird von Hugging Face geladen.</translation>
    </message>
    <message>
        <source>Downloading {model}: {done} of {total}, about {left} s left.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>{model} wird geladen: {done} von {total}, noch etwa {left} s.</translation>
    </message>
    <message>
        <source>Downloading: {done} of {total}</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py, app/gui/viewmodels/updates.py</extracomment>
        <translation>Download: {done} von {total}</translation>
    </message>
    <message>
        <source>Draft model</source>
        <extracomment>app/gui/settings/speculation.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>Draft tokens from</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Entwurfstoken aus</translation>
    </message>
    <message>
        <source>Draw a box around the area to read. Press Esc to cancel.</source>
        <extracomment>app/gui/read/snip.py</extracomment>
        <translation>Ziehen Sie einen Rahmen um den Bereich, der gelesen werden soll. Esc bricht ab.</translation>
    </message>
    <message>
        <source>Drawn at {drawn} instead of {wanted} dots an inch, because the page is so large.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Mit {drawn} statt {wanted} Punkten pro Zoll gezeichnet, weil die Seite so groß ist.</translation>
    </message>
    <message>
        <source>Drop a folder of documents here. It is read and searched on this machine, and Chat answers from it and says where.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Ziehen Sie einen Ordner mit Dokumenten hierher. Er wird auf diesem Rechner gelesen und durchsucht; der Chat antwortet daraus und nennt die Stelle.</translation>
    </message>
    <message>
        <source>Drop a recording here, or record from the microphone and read along.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Ziehen Sie eine Aufnahme hierher, oder nehmen Sie vom Mikrofon auf und lesen Sie mit.</translation>
    </message>
    <message>
        <source>Drop documents, photos or scans here, paste an image, or capture part of the screen.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Ziehen Sie Dokumente, Fotos oder Scans hierher, fügen Sie ein Bild ein, oder nehmen Sie einen Bildschirmausschnitt auf.</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <source>Duplicate the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Unterhaltung duplizieren</translation>
    </message>
    <message>
        <source>Each query goes to {address}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Jede Anfrage geht an {address}.</translation>
    </message>
    <message>
        <source>Earlier</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Früher</translation>
    </message>
    <message>
        <source>Edit</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Bearbeiten</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nachricht bearbeiten</translation>
    </message>
    <message>
        <source>Editing a message. The original stays as another branch.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Nachricht wird bearbeitet. Das Original bleibt als anderer Zweig erhalten.</translation>
    </message>
    <message>
        <source>Editing the reply.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Antwort wird bearbeitet.</translation>
    </message>
    <message>
        <source>Embedding</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Embedding</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s defaults.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Leere Felder verwenden die Standardwerte des Modells.</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s own defaults. Settings of a conversation take precedence.</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Leere Felder verwenden die Standardwerte des Modells. Einstellungen einer Unterhaltung haben Vorrang.</translation>
    </message>
    <message>
        <source>End</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>End Talk</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Gespräch beenden</translation>
    </message>
    <message>
        <source>End Talk (Esc)</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Gespräch beenden (Esc)</translation>
    </message>
    <message>
        <source>Enter a command, such as npx -y @modelcontextprotocol/server-memory, or an address.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Geben Sie einen Befehl ein, etwa npx -y @modelcontextprotocol/server-memory, oder eine Adresse.</translation>
    </message>
    <message>
        <source>Enter a share like 70 %, or a size like 12 GB.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Geben Sie einen Anteil wie 70 % oder eine Größe wie 12 GB ein.</translation>
    </message>
    <message>
        <source>Enter the name of a model, or choose a folder. Until then nothing is drafted.</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>Geben Sie den Namen eines Modells ein, oder wählen Sie einen Ordner. Bis dahin gibt es keine Entwürfe.</translation>
    </message>
    <message>
        <source>Enter tool result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Tool-Ergebnis eingeben</translation>
    </message>
    <message>
        <source>Errors and crashes of Grus on this machine. The log contains nothing that you write, say or read, and is never sent anywhere.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Fehler und Abstürze von Grus auf diesem Gerät. Das Protokoll enthält nichts, was Sie schreiben, sagen oder lesen, und wird nirgendwohin gesendet.</translation>
    </message>
    <message>
        <source>Errors and crashes, stored on this machine. Export the log to get help.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Fehler und Abstürze, auf diesem Gerät gespeichert. Exportieren Sie das Protokoll, um Hilfe zu erhalten.</translation>
    </message>
    <message>
        <source>Even broader knowledge and quick answers: 3 of 80 billion parameters are active per token. For 80 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Noch breiteres Wissen und schnelle Antworten: 3 von 80 Milliarden Parametern sind je Token aktiv. Ab 80 GB.</translation>
    </message>
    <message>
        <source>Everyday questions in more than 100 languages, for machines with 8 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Fragen des Alltags in mehr als 100 Sprachen, für Geräte mit 8 GB.</translation>
    </message>
    <message>
        <source>Everything</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Alles</translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Alles ist wieder gespeichert.</translation>
    </message>
    <message>
        <source>Everything stays on this machine</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Alles bleibt auf diesem Gerät</translation>
    </message>
    <message>
        <source>Everything was deleted. Models are still on this machine.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Alles wurde gelöscht. Modelle sind weiterhin auf diesem Gerät.</translation>
    </message>
    <message>
        <source>Export</source>
        <extracomment>app/gui/chat/actions.py, app/gui/listen/pane.py, app/gui/logview.py, app/gui/read/pane.py</extracomment>
        <translation>Exportieren</translation>
    </message>
    <message>
        <source>Export all</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Alle exportieren</translation>
    </message>
    <message>
        <source>Export all conversations</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Alle Unterhaltungen exportieren</translation>
    </message>
    <message>
        <source>Export and import</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Export und Import</translation>
    </message>
    <message>
        <source>Export as</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Exportieren als</translation>
    </message>
    <message>
        <source>Export as JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Als JSON exportieren</translation>
    </message>
    <message>
        <source>Export as Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Als Markdown exportieren</translation>
    </message>
    <message>
        <source>Export as PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Als PDF exportieren</translation>
    </message>
    <message>
        <source>Export everything</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Alles exportieren</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Unterhaltung exportieren</translation>
    </message>
    <message>
        <source>Export the log</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Protokoll exportieren</translation>
    </message>
    <message>
        <source>Fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Tatsache</translation>
    </message>
    <message>
        <source>Fact memory</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Gedächtnis für Tatsachen</translation>
    </message>
    <message>
        <source>Female voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Frauenstimme</translation>
    </message>
    <message>
        <source>File reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Dateileser</translation>
    </message>
    <message>
        <source>Files</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Filter this list</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Liste filtern</translation>
    </message>
    <message>
        <source>Find</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Find an action, a conversation or a model</source>
        <extracomment>app/gui/palette.py</extracomment>
        <translation>Aktion, Unterhaltung oder Modell finden</translation>
    </message>
    <message>
        <source>Find and replace</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Suchen und ersetzen</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/find_bar.py</extracomment>
        <translation>In dieser Unterhaltung suchen</translation>
    </message>
    <message>
        <source>Finds passages of a library by their meaning, in more than 100 languages and in code.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Findet Stellen einer Bibliothek nach ihrem Sinn, in mehr als 100 Sprachen und in Code.</translation>
    </message>
    <message>
        <source>Finishing running requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Laufende Anfragen werden beendet</translation>
    </message>
    <message>
        <source>Fit width</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>An Breite anpassen</translation>
    </message>
    <message>
        <source>Fits this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Passt auf dieses Gerät: braucht etwa {needed} von {has}.</translation>
    </message>
    <message>
        <source>Folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Footer</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Fußzeile</translation>
    </message>
    <message>
        <source>Footnote</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Fußnote</translation>
    </message>
    <message>
        <source>For all models together, as a share or a size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Für alle Modelle zusammen, als Anteil oder Größe.</translation>
    </message>
    <message>
        <source>For gated models. It is sent only to Hugging Face.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Für Modelle mit beschränktem Zugang. Es wird nur an Hugging Face gesendet.</translation>
    </message>
    <message>
        <source>For the hardest questions: 5 of 117 billion parameters are active per token. For 96 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Für die schwersten Fragen: 5 von 117 Milliarden Parametern sind je Token aktiv. Ab 96 GB.</translation>
    </message>
    <message>
        <source>Forget the voice of {name}</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Stimme von {name} vergessen</translation>
    </message>
    <message>
        <source>Format</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Format</translation>
    </message>
    <message>
        <source>Formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Formel</translation>
    </message>
    <message>
        <source>From another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Von einem anderen Rechner</translation>
    </message>
    <message>
        <source>From disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Vom Datenträger</translation>
    </message>
    <message>
        <source>From the tool. Not checked, and no instruction:</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Vom Werkzeug. Nicht geprüft und keine Anweisung:</translation>
    </message>
    <message>
        <source>Full screen</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Vollbild</translation>
    </message>
    <message>
        <source>Get a model</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Modell herunterladen</translation>
    </message>
    <message>
        <source>Get a model…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Modell herunterladen …</translation>
    </message>
    <message>
        <source>Get a real model: {model}, {facts}.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Laden Sie ein richtiges Modell: {model}, {facts}.</translation>
    </message>
    <message>
        <source>Get a vision model</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>Modell für Bilder herunterladen</translation>
    </message>
    <message>
        <source>Getting sizes from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Größen werden von Hugging Face abgerufen.</translation>
    </message>
    <message>
        <source>Getting the list of files from Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Dateiliste wird von Hugging Face abgerufen</translation>
    </message>
    <message>
        <source>Global shortcut</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Globales Tastenkürzel</translation>
    </message>
    <message>
        <source>Go to the message field</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Zum Eingabefeld</translation>
    </message>
    <message>
        <source>Good at text, code and tools with little memory. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Gut in Text, Code und Tools mit wenig Arbeitsspeicher. Schlussfolgern ist zuschaltbar.</translation>
    </message>
    <message>
        <source>Grus cannot save: {reason}. Your changes are kept in memory until it can.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Grus kann nicht speichern: {reason}. Ihre Änderungen bleiben bis dahin im Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>Grus computes on the CPU. To compute on the NVIDIA GPU, it needs the CUDA pack: a download of {size}.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Grus rechnet auf der CPU. Um auf der NVIDIA-GPU zu rechnen, braucht es das CUDA-Paket: einen Download von {size}.</translation>
    </message>
    <message>
        <source>Grus does not look for a new version: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Grus sucht nicht nach einer neuen Version: {reason}.</translation>
    </message>
    <message>
        <source>Grus does not support the architecture of this model.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Grus unterstützt die Architektur dieses Modells nicht.</translation>
    </message>
    <message>
        <source>Grus ended unexpectedly last time. Nothing was deleted.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Grus wurde beim letzten Mal unerwartet beendet. Nichts wurde gelöscht.</translation>
    </message>
    <message>
        <source>Grus has no accounts and sends nothing on its own. All of this is stored only on this machine.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus hat keine Konten und sendet nichts von sich aus. All das ist nur auf diesem Gerät gespeichert.</translation>
    </message>
    <message>
        <source>Grus listens again when it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Grus hört wieder zu, wenn es zu Ende gesprochen hat.</translation>
    </message>
    <message>
        <source>Grus never changes files in these folders.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus ändert in diesen Ordnern keine Dateien.</translation>
    </message>
    <message>
        <source>Grus was started with --offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>Grus wurde mit --offline gestartet</translation>
    </message>
    <message>
        <source>Grus was told to work offline</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Grus soll offline arbeiten</translation>
    </message>
    <message>
        <source>Grus {version} is available.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} ist verfügbar.</translation>
    </message>
    <message>
        <source>Grus {version} is the newest version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} ist die neueste Version.</translation>
    </message>
    <message>
        <source>HTML</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>HTML</translation>
    </message>
    <message>
        <source>Have replies and texts read aloud: a text-to-speech model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Antworten und Texte vorlesen lassen: ein Modell für Sprachausgabe.</translation>
    </message>
    <message>
        <source>Header</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Kopfzeile</translation>
    </message>
    <message>
        <source>Heading</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Überschrift</translation>
    </message>
    <message>
        <source>Headphones</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Kopfhörer</translation>
    </message>
    <message>
        <source>Hide reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Überlegungen ausblenden</translation>
    </message>
    <message>
        <source>Hide the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Aufruf ausblenden</translation>
    </message>
    <message>
        <source>Hide tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Werkzeuge ausblenden</translation>
    </message>
    <message>
        <source>High</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Hoch</translation>
    </message>
    <message>
        <source>High contrast</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Hoher Kontrast</translation>
    </message>
    <message>
        <source>History</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Hold it, speak, and let it go: the text appears at the cursor, in any app. Clear the field for none.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Gedrückt halten, sprechen, loslassen: Der Text erscheint am Cursor, in jeder App. Für keine Taste das Feld leeren.</translation>
    </message>
    <message>
        <source>How many threads of the CPU compute without mains power. Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Wie viele Threads der CPU ohne Netzstrom rechnen. Gilt nach einem Neustart von Grus.</translation>
    </message>
    <message>
        <source>How many times a text model is loaded, on a device each, for many requests at once. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Wie oft ein Textmodell geladen wird, je auf einem eigenen Gerät, für viele gleichzeitige Anfragen. Gilt für Modelle, die von jetzt an geladen werden.</translation>
    </message>
    <message>
        <source>How much of the disk may hold weights that were prepared for this CPU. Such a model opens at once the next time.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Wie viel von der Festplatte Gewichte einnehmen dürfen, die für diesen Prozessor vorbereitet wurden. Ein solches Modell öffnet beim nächsten Mal sofort.</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>Hugging Face answered with status {status}. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face hat mit dem Status {status} geantwortet. Versuchen Sie es später erneut.</translation>
    </message>
    <message>
        <source>Hugging Face cannot be reached. Check the network, then try again.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Hugging Face ist nicht erreichbar. Prüfen Sie das Netzwerk und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>Hugging Face does not know your token (status 401). Make a new one on its page, then {advice}. `grus token remove` continues without one.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face kennt Ihr Token nicht (Status 401). Erstellen Sie dort ein neues, dann {advice}. `grus token remove` macht ohne Token weiter.</translation>
    </message>
    <message>
        <source>Hugging Face has no repository {repo}, or it is private. For a private one, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face hat kein Repository {repo}, oder es ist privat. Für ein privates: {advice}.</translation>
    </message>
    <message>
        <source>Hugging Face is not asked: {why}.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Hugging Face wird nicht gefragt: {why}.</translation>
    </message>
    <message>
        <source>Hugging Face refused access to {repo} (status {status}). To be let in, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face hat den Zugriff auf {repo} verweigert (Status {status}). Um Zugriff zu erhalten: {advice}.</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in some minutes.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face nimmt von hier keine Anfragen mehr an (Status 429). Versuchen Sie es in einigen Minuten erneut.</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in {n} s.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face nimmt von hier keine Anfragen mehr an (Status 429). Versuchen Sie es in {n} s erneut.</translation>
    </message>
    <message>
        <source>Hugging Face token</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Hugging-Face-Token</translation>
    </message>
    <message>
        <source>Import an archive</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Archiv importieren</translation>
    </message>
    <message>
        <source>Import conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Unterhaltung importieren</translation>
    </message>
    <message>
        <source>Imported</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Importiert</translation>
    </message>
    <message>
        <source>Importing: {done} of {total} conversations.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Import: {done} von {total} Unterhaltungen.</translation>
    </message>
    <message>
        <source>In addition to the system&apos;s text size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Zusätzlich zur Schriftgröße des Systems.</translation>
    </message>
    <message>
        <source>In memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Im Speicher</translation>
    </message>
    <message>
        <source>In tokens. At this limit the model stops reasoning and answers.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>In Token. Bei dieser Grenze beendet das Modell die Überlegungen und antwortet.</translation>
    </message>
    <message>
        <source>In tokens. Empty: up to the context length.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>In Token. Leer: bis zur Kontextlänge.</translation>
    </message>
    <message>
        <source>Included with Grus</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>In Grus enthalten</translation>
    </message>
    <message>
        <source>Incomplete</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Unvollständig</translation>
    </message>
    <message>
        <source>Install</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Installieren</translation>
    </message>
    <message>
        <source>Install and restart</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Installieren und neu starten</translation>
    </message>
    <message>
        <source>Install it as you installed Grus, for example: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Installieren Sie es so, wie Sie Grus installiert haben, zum Beispiel: {command}</translation>
    </message>
    <message>
        <source>Instructions</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pane.py</extracomment>
        <translation>Anweisungen</translation>
    </message>
    <message>
        <source>Interrupt</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Unterbrechen</translation>
    </message>
    <message>
        <source>Interrupt the voice</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Die Stimme unterbrechen</translation>
    </message>
    <message>
        <source>It does not contain server keys, the Hugging Face token or models.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Serverschlüssel, das Hugging-Face-Token und Modelle sind nicht enthalten.</translation>
    </message>
    <message>
        <source>It has changed since you allowed it.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Es hat sich geändert, seit Sie es erlaubt haben.</translation>
    </message>
    <message>
        <source>It is not clear which way up this page is. Turn it if the text makes no sense.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Es ist unklar, wo auf dieser Seite oben ist. Drehen Sie sie, wenn der Text keinen Sinn ergibt.</translation>
    </message>
    <message>
        <source>JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>JSON</translation>
    </message>
    <message>
        <source>Jump to the latest message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Zur neuesten Nachricht</translation>
    </message>
    <message>
        <source>Jump to the latest message (Ctrl+End)</source>
        <extracomment>app/gui/chat/transcript.py</extracomment>
        <translation>Zur neuesten Nachricht (Strg+Ende)</translation>
    </message>
    <message>
        <source>Key</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Key, if it needs one</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Schlüssel, falls nötig</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <extracomment>app/gui/palette.py, app/gui/window.py</extracomment>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Keys</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Known voices</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Bekannte Stimmen</translation>
    </message>
    <message>
        <source>Knows more than its speed suggests: 1.5 of 8 billion parameters are active per token. For 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Weiß mehr, als sein Tempo vermuten lässt: 1,5 von 8 Milliarden Parametern sind je Token aktiv. Für 16 GB.</translation>
    </message>
    <message>
        <source>Knows the voices that you named in the next recording, beside a model that tells speakers apart.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Erkennt die Stimmen, die Sie benannt haben, in der nächsten Aufnahme wieder, neben einem Modell, das Sprecher unterscheidet.</translation>
    </message>
    <message>
        <source>Kokoro does not speak {language} here. It speaks: {known}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro spricht hier kein {language}. Verfügbar: {known}.</translation>
    </message>
    <message>
        <source>Kokoro has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro hat keine Stimme {name}. Verfügbar: {voices}.</translation>
    </message>
    <message>
        <source>Kokoro has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro hat eigene Stimmen und klont keine. Wählen Sie zum Klonen ein Modell Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>Kokoro needs the program espeak-ng, which tells how words are pronounced. Install it (Debian: apt install espeak-ng, macOS: brew install espeak-ng), or choose another voice.</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>Kokoro braucht das Programm espeak-ng, das die Aussprache der Wörter liefert. Installieren Sie es (Debian: apt install espeak-ng, macOS: brew install espeak-ng) oder wählen Sie eine andere Stimme.</translation>
    </message>
    <message>
        <source>Kokoro takes no instructions. Its voices differ in tone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro nimmt keine Anweisungen an. Seine Stimmen unterscheiden sich im Ton.</translation>
    </message>
    <message>
        <source>Language</source>
        <extracomment>app/gui/settings/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Larger text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Größere Schrift</translation>
    </message>
    <message>
        <source>Leave empty if the server needs none</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Leer lassen, wenn der Server keinen braucht</translation>
    </message>
    <message>
        <source>Leave out tokens less likely than this share of the most likely one.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Token auslassen, die unwahrscheinlicher sind als dieser Anteil des wahrscheinlichsten.</translation>
    </message>
    <message>
        <source>Left out, because they are malformed: {names}.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Ausgelassen, weil fehlerhaft: {names}.</translation>
    </message>
    <message>
        <source>Level</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Pegel</translation>
    </message>
    <message>
        <source>Libraries</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/libraries/pane.py, app/gui/pane.py</extracomment>
        <translation>Bibliotheken</translation>
    </message>
    <message>
        <source>Licence</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Line {number} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>Zeile {number} hat nicht die Form: Wort = wie es gesprochen wird.</translation>
    </message>
    <message>
        <source>Line {number} of {path} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>Zeile {number} von {path} hat nicht die Form: Wort = wie es gesprochen wird.</translation>
    </message>
    <message>
        <source>List</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Liste</translation>
    </message>
    <message>
        <source>Listen</source>
        <extracomment>app/gui/listen/pane.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Zuhören</translation>
    </message>
    <message>
        <source>Listening</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/listen.py</extracomment>
        <translation>Hört zu</translation>
    </message>
    <message>
        <source>Load</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Load or unload</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Laden oder entladen</translation>
    </message>
    <message>
        <source>Loading models</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Modelle werden geladen</translation>
    </message>
    <message>
        <source>Loading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py, app/window_engine.py, app/window_reply.py</extracomment>
        <translation>{model} wird geladen.</translation>
    </message>
    <message>
        <source>Location</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Ort</translation>
    </message>
    <message>
        <source>Log</source>
        <extracomment>app/gui/logview.py, app/gui/server/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Long texts, tools and code, for machines with 16 to 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lange Texte, Tools und Code, für Geräte mit 16 bis 24 GB.</translation>
    </message>
    <message>
        <source>Looking for documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Dokumente werden gesucht</translation>
    </message>
    <message>
        <source>Looking for models on this machine.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Auf diesem Gerät wird nach Modellen gesucht.</translation>
    </message>
    <message>
        <source>Low</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Niedrig</translation>
    </message>
    <message>
        <source>Low confidence. Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Geringe Sicherheit. Zum Abspielen klicken.</translation>
    </message>
    <message>
        <source>Low confidence: {why}</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Geringe Sicherheit: {why}</translation>
    </message>
    <message>
        <source>Make an audiobook</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>Hörbuch erstellen</translation>
    </message>
    <message>
        <source>Male voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Männerstimme</translation>
    </message>
    <message>
        <source>Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>Match case</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Groß-/Kleinschreibung beachten</translation>
    </message>
    <message>
        <source>Maximum length</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Maximale Länge</translation>
    </message>
    <message>
        <source>Medium</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>Memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Memory</source>
        <comment>facts</comment>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Gedächtnis</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Speichergrenze</translation>
    </message>
    <message>
        <source>Merge with the next segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Mit dem nächsten Abschnitt verbinden</translation>
    </message>
    <message>
        <source>Message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Nachricht</translation>
    </message>
    <message>
        <source>Min P</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Min P</translation>
    </message>
    <message>
        <source>Model</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/model_box.py, app/gui/models/remote_form.py, app/gui/server/pane.py</extracomment>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Model folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>Model for this conversation</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Modell für diese Unterhaltung</translation>
    </message>
    <message>
        <source>Model lists</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Modelllisten</translation>
    </message>
    <message>
        <source>Model to use</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Zu verwendendes Modell</translation>
    </message>
    <message>
        <source>Models</source>
        <extracomment>app/gui/models/pane.py, app/gui/pane.py</extracomment>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Models on this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Modelle auf diesem Gerät</translation>
    </message>
    <message>
        <source>Models run on {backend}, {device}, and may use {allowed} of {memory}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Modelle laufen auf {backend}, {device}, und dürfen {allowed} von {memory} nutzen.</translation>
    </message>
    <message>
        <source>Models, shared with other programs</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Modelle, mit anderen Programmen geteilt</translation>
    </message>
    <message>
        <source>Move to</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Verschieben nach</translation>
    </message>
    <message>
        <source>Multi-token prediction (MTP)</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>Multi-Token-Vorhersage (MTP)</translation>
    </message>
    <message>
        <source>N-grams of the conversation</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>N-Gramme der Unterhaltung</translation>
    </message>
    <message>
        <source>NVIDIA GPU</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>NVIDIA-GPU</translation>
    </message>
    <message>
        <source>Name</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/models/remote_form.py, app/gui/settings/tools.py</extracomment>
        <translation>Name</translation>
    </message>
    <message>
        <source>Name of the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Name der Stimme</translation>
    </message>
    <message>
        <source>Name to save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Name für eine neue Voreinstellung</translation>
    </message>
    <message>
        <source>Names and terms, separated by commas. Listen, Talk and dictation spell them like this.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Namen und Begriffe, durch Kommas getrennt. Zuhören, Gespräch und Diktieren schreiben sie so.</translation>
    </message>
    <message>
        <source>Needs about {needed} of {has}. Its experts can stay in the file: replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Braucht etwa {needed} von {has}. Seine Experten können in der Datei bleiben: Antworten sind so langsam wie der Datenträger.</translation>
    </message>
    <message>
        <source>Needs about {needed}; models may use {has}. Raise the memory limit in Settings.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Braucht etwa {needed}; Modelle dürfen {has} nutzen. Erhöhen Sie die Grenze in den Einstellungen.</translation>
    </message>
    <message>
        <source>Network</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>Never</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Nie</translation>
    </message>
    <message>
        <source>Never allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Nie erlauben</translation>
    </message>
    <message>
        <source>New conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py, app/gui/chat/pane.py</extracomment>
        <translation>Neue Unterhaltung</translation>
    </message>
    <message>
        <source>New conversation in this project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Neue Unterhaltung in diesem Projekt</translation>
    </message>
    <message>
        <source>New line</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Neue Zeile</translation>
    </message>
    <message>
        <source>New project</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/projects.py</extracomment>
        <translation>Neues Projekt</translation>
    </message>
    <message>
        <source>New project…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Neues Projekt…</translation>
    </message>
    <message>
        <source>New voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Neue Stimme</translation>
    </message>
    <message>
        <source>Next branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Nächster Zweig</translation>
    </message>
    <message>
        <source>Next conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nächste Unterhaltung</translation>
    </message>
    <message>
        <source>Next document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Nächstes Dokument</translation>
    </message>
    <message>
        <source>Next library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Nächste Bibliothek</translation>
    </message>
    <message>
        <source>Next match (Enter)</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>Nächster Treffer (Enter)</translation>
    </message>
    <message>
        <source>Next message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nächste Nachricht</translation>
    </message>
    <message>
        <source>Next page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Nächste Seite</translation>
    </message>
    <message>
        <source>Next recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Nächste Aufnahme</translation>
    </message>
    <message>
        <source>Next region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Nächster Bereich</translation>
    </message>
    <message>
        <source>Next version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Nächste Version</translation>
    </message>
    <message>
        <source>Next version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nächste Version der Vorschau</translation>
    </message>
    <message>
        <source>No active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Keine aktiven Anfragen.</translation>
    </message>
    <message>
        <source>No errors so far.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Bisher keine Fehler.</translation>
    </message>
    <message>
        <source>No loudspeaker was found. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Kein Lautsprecher gefunden. Schließen Sie einen an und spielen Sie noch einmal.</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Kein Mikrofon gefunden. Schließen Sie eines an und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>No model is loaded. Grus uses {whole}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Kein Modell geladen. Grus verwendet {whole}.</translation>
    </message>
    <message>
        <source>No model that reads images is installed. Download one in Models, for example PaddlePaddle/PaddleOCR-VL.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Es ist kein Modell installiert, das Bilder liest. Laden Sie unter „Modelle“ eines herunter, zum Beispiel PaddlePaddle/PaddleOCR-VL.</translation>
    </message>
    <message>
        <source>No model that tells speakers apart is installed. Download one in Models, for example mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Es ist kein Modell installiert, das Sprecher unterscheidet. Laden Sie eines unter Modelle herunter, zum Beispiel mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</translation>
    </message>
    <message>
        <source>No model yet</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Noch kein Modell</translation>
    </message>
    <message>
        <source>No model yet. Recommended lists some that fit.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Noch kein Modell. Unter „Empfohlen“ stehen passende.</translation>
    </message>
    <message>
        <source>No places were found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>In der Ausgabe des Modells wurden keine Positionen gefunden.</translation>
    </message>
    <message>
        <source>No project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Kein Projekt</translation>
    </message>
    <message>
        <source>No results for {words} on Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Keine Ergebnisse für {words} auf Hugging Face.</translation>
    </message>
    <message>
        <source>No results for {words}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Keine Ergebnisse für {words}.</translation>
    </message>
    <message>
        <source>No results.</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/palette.py, app/gui/viewmodels/chat/find.py</extracomment>
        <translation>Keine Ergebnisse.</translation>
    </message>
    <message>
        <source>No search and no downloads, and the server does not fetch images. Models on this machine keep working.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Keine Suche, keine Downloads, und der Server ruft keine Bilder ab. Modelle auf diesem Gerät funktionieren weiterhin.</translation>
    </message>
    <message>
        <source>No shortcut</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Kein Tastenkürzel</translation>
    </message>
    <message>
        <source>No speech recognition model is installed. Download one in Models, for example UsefulSensors/moonshine-base.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Es ist kein Modell für Spracherkennung installiert. Laden Sie unter „Modelle“ eines herunter, zum Beispiel UsefulSensors/moonshine-base.</translation>
    </message>
    <message>
        <source>No table was found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>In der Ausgabe des Modells wurde keine Tabelle gefunden.</translation>
    </message>
    <message>
        <source>No table was found in {title}. Choose another format.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>In {title} wurde keine Tabelle gefunden. Wählen Sie ein anderes Format.</translation>
    </message>
    <message>
        <source>No text was found in {name}.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>In {name} wurde kein Text gefunden.</translation>
    </message>
    <message>
        <source>No text-to-speech model is installed. Download one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Es ist kein Modell für Sprachausgabe installiert. Laden Sie unter „Modelle“ eines herunter, zum Beispiel Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</translation>
    </message>
    <message>
        <source>No tool server that is on has a prompt.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Kein eingeschalteter Werkzeugserver hat einen Prompt.</translation>
    </message>
    <message>
        <source>No tool server that is on has a resource.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Kein eingeschalteter Werkzeugserver hat eine Ressource.</translation>
    </message>
    <message>
        <source>No voice yet</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Noch keine Stimme</translation>
    </message>
    <message>
        <source>None. For example https://app.example</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Keine. Zum Beispiel https://app.example</translation>
    </message>
    <message>
        <source>Not complete</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Unvollständig</translation>
    </message>
    <message>
        <source>Not now</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>Nicht jetzt</translation>
    </message>
    <message>
        <source>Not stated. Check with the publisher before you use it.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Nicht angegeben. Klären Sie sie vor der Nutzung mit dem Anbieter.</translation>
    </message>
    <message>
        <source>Nothing</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Es wurde nichts gefunden.</translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/server/pane.py, app/gui/viewmodels/read_watch.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Aus</translation>
    </message>
    <message>
        <source>OmniVoice has no voices by name: describe one, or clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py</extracomment>
        <translation>OmniVoice hat keine Stimmen mit Namen: Beschreiben Sie eine, oder klonen Sie eine aus einer Aufnahme.</translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Ein</translation>
    </message>
    <message>
        <source>On disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Auf dem Datenträger</translation>
    </message>
    <message>
        <source>On other machines</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Auf anderen Rechnern</translation>
    </message>
    <message>
        <source>On this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Auf diesem Gerät</translation>
    </message>
    <message>
        <source>Once a day at most. Only the version of this Grus is sent.</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Höchstens einmal am Tag. Gesendet wird nur die Version dieses Grus.</translation>
    </message>
    <message>
        <source>One chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Ein Diagramm</translation>
    </message>
    <message>
        <source>One file per chapter</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Eine Datei pro Kapitel</translation>
    </message>
    <message>
        <source>One formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Eine Formel</translation>
    </message>
    <message>
        <source>One line per request, without its content.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Eine Zeile je Anfrage, ohne deren Inhalt.</translation>
    </message>
    <message>
        <source>One moment. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Einen Moment. Zum Beenden Esc drücken.</translation>
    </message>
    <message>
        <source>One seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Ein Siegel</translation>
    </message>
    <message>
        <source>One table</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Eine Tabelle</translation>
    </message>
    <message>
        <source>Only PDFs and images become a searchable PDF. Choose another format.</source>
        <extracomment>engine/pipelines/reading/writers.py</extracomment>
        <translation>Nur aus PDFs und Bildern wird ein durchsuchbares PDF. Wählen Sie ein anderes Format.</translation>
    </message>
    <message>
        <source>Only if the server does not list it</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Nur wenn der Server es nicht auflistet</translation>
    </message>
    <message>
        <source>Only the first {rows} rows are read.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>Nur die ersten {rows} Zeilen werden gelesen.</translation>
    </message>
    <message>
        <source>Only {free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Nur {free} sind frei.</translation>
    </message>
    <message>
        <source>Open</source>
        <extracomment>app/gui/pane.py</extracomment>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Open at login</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Bei der Anmeldung öffnen</translation>
    </message>
    <message>
        <source>Open in the browser</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Im Browser öffnen</translation>
    </message>
    <message>
        <source>Open link</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Link öffnen</translation>
    </message>
    <message>
        <source>Open text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Text öffnen</translation>
    </message>
    <message>
        <source>Open the browser</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Browser öffnen</translation>
    </message>
    <message>
        <source>Open the conversation: {title}</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Die Unterhaltung öffnen: {title}</translation>
    </message>
    <message>
        <source>Opening</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Wird geöffnet</translation>
    </message>
    <message>
        <source>Or paste the JSON of Claude Desktop, Cursor, LM Studio or VS Code</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Oder das JSON von Claude Desktop, Cursor, LM Studio oder VS Code einfügen</translation>
    </message>
    <message>
        <source>Orpheus has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus hat keine Stimme {name}. Verfügbar: {voices}.</translation>
    </message>
    <message>
        <source>Orpheus has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus hat eigene Stimmen und klont keine. Wählen Sie zum Klonen ein Modell Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>Orpheus speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus spricht Englisch, nicht {language}.</translation>
    </message>
    <message>
        <source>Orpheus takes no instructions; it supports tags in the text: {tags}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus nimmt keine Anweisungen an; es unterstützt Tags im Text: {tags}.</translation>
    </message>
    <message>
        <source>Other data</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Weitere Daten</translation>
    </message>
    <message>
        <source>Other machines can reach the server on port {port}, with a key.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>Andere Geräte erreichen den Server an Port {port}, mit einem Schlüssel.</translation>
    </message>
    <message>
        <source>Other machines may only connect with a key. Create one first.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>Andere Geräte dürfen nur mit einem Schlüssel zugreifen. Erstellen Sie zuerst einen.</translation>
    </message>
    <message>
        <source>Other machines too</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Auch andere Geräte</translation>
    </message>
    <message>
        <source>Other models</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>Andere Modelle</translation>
    </message>
    <message>
        <source>Output</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Ausgabe</translation>
    </message>
    <message>
        <source>Own words</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Eigene Wörter</translation>
    </message>
    <message>
        <source>Own words are at most {most}, of {longest} characters each.</source>
        <extracomment>engine/pipelines/listening/glossary.py</extracomment>
        <translation>Es sind höchstens {most} eigene Wörter mit je {longest} Zeichen möglich.</translation>
    </message>
    <message>
        <source>PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Pace</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Packed weights</source>
        <extracomment>app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Gepackte Gewichte</translation>
    </message>
    <message>
        <source>Page number</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Seitenzahl</translation>
    </message>
    <message>
        <source>Page {number} of the PDF cannot be drawn.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Seite {number} des PDFs lässt sich nicht darstellen.</translation>
    </message>
    <message>
        <source>Page {number} of the PDF is damaged.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Seite {number} des PDFs ist beschädigt.</translation>
    </message>
    <message>
        <source>Page {n} of {total}</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Seite {n} von {total}</translation>
    </message>
    <message>
        <source>Pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Seiten</translation>
    </message>
    <message>
        <source>Pages are named like 1-3,5 or 7-, not {text}.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Geben Sie Seiten wie 1-3,5 oder 7- an, nicht {text}.</translation>
    </message>
    <message>
        <source>Pages, such as 1-3,5 or 7-</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Seiten, etwa 1-3,5 oder 7-</translation>
    </message>
    <message>
        <source>Panes</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Bereiche</translation>
    </message>
    <message>
        <source>Passages</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Textstellen</translation>
    </message>
    <message>
        <source>Password</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Passwort</translation>
    </message>
    <message>
        <source>Password-protected</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Passwortgeschützt</translation>
    </message>
    <message>
        <source>Paste image</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Bild einfügen</translation>
    </message>
    <message>
        <source>Paste it, and press Enter</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Einfügen und Eingabetaste drücken</translation>
    </message>
    <message>
        <source>Paste your Hugging Face token, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging-Face-Token einfügen und Eingabetaste drücken</translation>
    </message>
    <message>
        <source>Pasted picture</source>
        <extracomment>app/gui/chat/composer.py, app/gui/read/pane.py</extracomment>
        <translation>Eingefügtes Bild</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Eingefügter Text</translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Pausieren</translation>
    </message>
    <message>
        <source>Pause or resume</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Anhalten oder fortsetzen</translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Pausiert</translation>
    </message>
    <message>
        <source>Paused after {done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Angehalten nach {done} von {total} Dateien</translation>
    </message>
    <message>
        <source>Paused at {how_far}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Pausiert bei {how_far}</translation>
    </message>
    <message>
        <source>Permission of {tool}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Berechtigung von {tool}</translation>
    </message>
    <message>
        <source>Picture</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Bild</translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Pin or unpin the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Unterhaltung anheften oder lösen</translation>
    </message>
    <message>
        <source>Pinned</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>Pitch</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Tonhöhe</translation>
    </message>
    <message>
        <source>Play</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>Wiedergeben</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Wiedergeben oder pausieren</translation>
    </message>
    <message>
        <source>Play segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Abschnitt abspielen</translation>
    </message>
    <message>
        <source>Play the voice sample</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Stimmprobe abspielen</translation>
    </message>
    <message>
        <source>Pocket-TTS takes no instructions. Its voices are recordings.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Pocket-TTS nimmt keine Anweisungen an. Seine Stimmen sind Aufnahmen.</translation>
    </message>
    <message>
        <source>Port</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Port</translation>
    </message>
    <message>
        <source>Precise</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Präzise</translation>
    </message>
    <message>
        <source>Preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Voreinstellung</translation>
    </message>
    <message>
        <source>Press Enter, then the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Eingabetaste drücken, dann die Tasten</translation>
    </message>
    <message>
        <source>Press the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Tasten drücken</translation>
    </message>
    <message>
        <source>Preview</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>Preview the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Vorschau des letzten Codes</translation>
    </message>
    <message>
        <source>Previous branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Vorheriger Zweig</translation>
    </message>
    <message>
        <source>Previous conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Vorherige Unterhaltung</translation>
    </message>
    <message>
        <source>Previous document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Vorheriges Dokument</translation>
    </message>
    <message>
        <source>Previous library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Vorherige Bibliothek</translation>
    </message>
    <message>
        <source>Previous match (Shift+Enter)</source>
        <extracomment>app/gui/chat/find_bar.py</extracomment>
        <translation>Vorheriger Treffer (Umschalt+Enter)</translation>
    </message>
    <message>
        <source>Previous message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Vorherige Nachricht</translation>
    </message>
    <message>
        <source>Previous page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Vorherige Seite</translation>
    </message>
    <message>
        <source>Previous recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Vorherige Aufnahme</translation>
    </message>
    <message>
        <source>Previous region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Vorheriger Bereich</translation>
    </message>
    <message>
        <source>Previous version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Vorherige Version</translation>
    </message>
    <message>
        <source>Previous version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Vorherige Version der Vorschau</translation>
    </message>
    <message>
        <source>Privacy</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>Programs must send one of these keys. Without keys, every program on this machine can connect.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Programme müssen einen dieser Schlüssel senden. Ohne Schlüssel kann jedes Programm auf diesem Gerät zugreifen.</translation>
    </message>
    <message>
        <source>Progress of the download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/models/pane.py</extracomment>
        <translation>Fortschritt des Downloads</translation>
    </message>
    <message>
        <source>Project settings</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Projekteinstellungen</translation>
    </message>
    <message>
        <source>Project settings…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Projekteinstellungen…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Pronunciations</source>
        <extracomment>app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Aussprache</translation>
    </message>
    <message>
        <source>Python in a sandbox needs Linux on x86-64 or ARM64.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python in einer Sandbox braucht Linux auf x86-64 oder ARM64.</translation>
    </message>
    <message>
        <source>Python in a sandbox needs a Python on this machine. Install the package python3 of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python in einer Sandbox braucht ein Python auf diesem Rechner. Installieren Sie das Paket python3 Ihres Systems.</translation>
    </message>
    <message>
        <source>Python in a sandbox needs bubblewrap. Install the package bubblewrap of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python in einer Sandbox braucht bubblewrap. Installieren Sie das Paket bubblewrap Ihres Systems.</translation>
    </message>
    <message>
        <source>Python sandbox</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Python-Sandbox</translation>
    </message>
    <message>
        <source>Queued. It is sent when the reply has ended.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>In der Warteschlange. Wird gesendet, sobald die Antwort fertig ist.</translation>
    </message>
    <message>
        <source>Quit Grus</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Grus beenden</translation>
    </message>
    <message>
        <source>Read</source>
        <extracomment>app/gui/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>Read again</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Erneut lesen</translation>
    </message>
    <message>
        <source>Read documents</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Dokumente lesen</translation>
    </message>
    <message>
        <source>Read tables, formulas and scans in many languages: a model for documents.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Tabellen, Formeln und Scans in vielen Sprachen lesen: ein Modell für Dokumente.</translation>
    </message>
    <message>
        <source>Read the text</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>Text lesen</translation>
    </message>
    <message>
        <source>Reading</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Wird gelesen</translation>
    </message>
    <message>
        <source>Reading failed inside: {kind}: {error}</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>Beim Lesen ist ein interner Fehler aufgetreten: {kind}: {error}</translation>
    </message>
    <message>
        <source>Reading the conversation: {share}.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Liest die Unterhaltung: {share}.</translation>
    </message>
    <message>
        <source>Reading the file.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Die Datei wird gelesen.</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>{name} wird gelesen</translation>
    </message>
    <message>
        <source>Reading {n} tokens.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Liest {n} Token.</translation>
    </message>
    <message>
        <source>Reads files in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Liest Dateien in den Ordnern, die Sie wählen.</translation>
    </message>
    <message>
        <source>Reads pages of the web. Their addresses leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Liest Seiten im Web. Deren Adressen verlassen diesen Rechner.</translation>
    </message>
    <message>
        <source>Reads pages: text, tables, formulas and charts in 109 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Liest Seiten: Text, Tabellen, Formeln und Diagramme in 109 Sprachen.</translation>
    </message>
    <message>
        <source>Reads text aloud in ten languages, with nine voices.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Liest Texte in zehn Sprachen vor, mit neun Stimmen.</translation>
    </message>
    <message>
        <source>Reads text aloud on any machine, in English and five other languages. It needs the program espeak-ng.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Liest auf jedem Rechner Text vor, auf Englisch und in fünf weiteren Sprachen. Es braucht das Programm espeak-ng.</translation>
    </message>
    <message>
        <source>Reasoning</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/panel.py, app/gui/chat/talk_bar.py, app/gui/sampling_fields.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Überlegungen</translation>
    </message>
    <message>
        <source>Reasoning and tools at the speed of a small model: 3.6 of 21 billion parameters are active per token. For 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Schlussfolgern und Tools mit dem Tempo eines kleinen Modells: 3,6 von 21 Milliarden Parametern sind je Token aktiv. Für 24 GB.</translation>
    </message>
    <message>
        <source>Reasoning limit</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Höchstlänge der Überlegungen</translation>
    </message>
    <message>
        <source>Reasoning, code and tools, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Schlussfolgern, Code und Tools, für Geräte mit 16 GB.</translation>
    </message>
    <message numerus="yes">
        <source>Reasoning, {n} words</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>Überlegungen, {n} Wort</numerusform>
            <numerusform>Überlegungen, {n} Wörter</numerusform>
        </translation>
    </message>
    <message>
        <source>Recognizes more detail, reads small print and longer documents.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Erkennt mehr Einzelheiten, liest Kleingedrucktes und längere Dokumente.</translation>
    </message>
    <message>
        <source>Recommended</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>Record</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Aufnehmen</translation>
    </message>
    <message>
        <source>Record from the microphone</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Vom Mikrofon aufnehmen</translation>
    </message>
    <message>
        <source>Recording {time}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>Aufnahme {time}</translation>
    </message>
    <message>
        <source>Recording: {time}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Aufnahme: {time}</translation>
    </message>
    <message>
        <source>Recordings</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Aufnahmen</translation>
    </message>
    <message>
        <source>Redo</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Bewegung reduzieren</translation>
    </message>
    <message>
        <source>Refresh</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Aktualisieren</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Neu generieren</translation>
    </message>
    <message>
        <source>Remember facts for all conversations</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Tatsachen für alle Unterhaltungen merken</translation>
    </message>
    <message>
        <source>Remote</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Entfernt</translation>
    </message>
    <message>
        <source>Remove</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove from the list</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Aus der Liste entfernen</translation>
    </message>
    <message>
        <source>Remove the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Bibliothek entfernen</translation>
    </message>
    <message>
        <source>Remove the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Projekt entfernen</translation>
    </message>
    <message>
        <source>Remove the token</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Token entfernen</translation>
    </message>
    <message>
        <source>Remove {folder}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{folder} entfernen</translation>
    </message>
    <message>
        <source>Remove {folder} from the list</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>{folder} aus der Liste entfernen</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <extracomment>app/gui/chat/composer.py, app/gui/settings/tools.py</extracomment>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>Removing.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Wird entfernt.</translation>
    </message>
    <message>
        <source>Rename</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Rename in the whole recording</source>
        <extracomment>app/gui/listen/pane.py, app/gui/listen/speakers.py</extracomment>
        <translation>In der ganzen Aufnahme umbenennen</translation>
    </message>
    <message>
        <source>Rename the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Unterhaltung umbenennen</translation>
    </message>
    <message>
        <source>Rename the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Projekt umbenennen</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <source>Replace all</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Alle ersetzen</translation>
    </message>
    <message>
        <source>Replace with</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Ersetzen durch</translation>
    </message>
    <message>
        <source>Replicas</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Replikate</translation>
    </message>
    <message>
        <source>Replies are generated on this machine.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Antworten werden auf diesem Gerät erzeugt.</translation>
    </message>
    <message>
        <source>Reply</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Reply of {model}</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Antwort von {model}</translation>
    </message>
    <message>
        <source>Repository</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Repository</translation>
    </message>
    <message>
        <source>Requires</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Benötigt</translation>
    </message>
    <message>
        <source>Reranking</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Reranking</translation>
    </message>
    <message>
        <source>Resources</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Ressourcen</translation>
    </message>
    <message>
        <source>Restart Grus</source>
        <extracomment>app/gui/settings/cuda_pack.py, app/gui/settings/speculation.py</extracomment>
        <translation>Grus neu starten</translation>
    </message>
    <message>
        <source>Result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>Results</source>
        <extracomment>app/gui/palette.py, app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Ergebnisse</translation>
    </message>
    <message>
        <source>Resume</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Resume the audiobook</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Hörbuch fortsetzen</translation>
    </message>
    <message>
        <source>Retry</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Retry now. Grus also retries automatically.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Jetzt erneut versuchen. Grus versucht es auch automatisch.</translation>
    </message>
    <message>
        <source>Reuse the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Text erneut verwenden</translation>
    </message>
    <message>
        <source>Rotate the page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Seite drehen</translation>
    </message>
    <message>
        <source>Run in the sandbox</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>In der Sandbox ausführen</translation>
    </message>
    <message>
        <source>Run or open the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Vorschau ausführen oder öffnen</translation>
    </message>
    <message>
        <source>Running on {address}</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Läuft unter {address}</translation>
    </message>
    <message>
        <source>Running the code.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Der Code läuft.</translation>
    </message>
    <message>
        <source>Runs Python without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Führt Python ohne Netzwerk und ohne Ihre Dateien aus, mit Grenzen für Zeit und Speicher.</translation>
    </message>
    <message>
        <source>Runs on</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Läuft auf</translation>
    </message>
    <message>
        <source>Sample only from the most likely tokens that together have this probability.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Nur aus den wahrscheinlichsten Token wählen, die zusammen diese Wahrscheinlichkeit haben.</translation>
    </message>
    <message>
        <source>Sample only from this many of the most likely tokens. 0: all.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Nur aus so vielen der wahrscheinlichsten Token wählen. 0: alle.</translation>
    </message>
    <message>
        <source>Sampling</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Sampling</translation>
    </message>
    <message>
        <source>Save</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Sichern</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Als Voreinstellung speichern</translation>
    </message>
    <message>
        <source>Save audio</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Audio speichern</translation>
    </message>
    <message>
        <source>Save now</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Jetzt speichern</translation>
    </message>
    <message>
        <source>Save the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Stimme speichern</translation>
    </message>
    <message>
        <source>Save to</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Speichern unter</translation>
    </message>
    <message>
        <source>Saved as {file}.</source>
        <extracomment>app/gui/pane.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>Gespeichert unter {file}.</translation>
    </message>
    <message>
        <source>Say something. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Sagen Sie etwas. Zum Beenden Esc drücken.</translation>
    </message>
    <message>
        <source>Say what is spoken in the recording, or clone the voice&apos;s colour alone.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Geben Sie an, was in der Aufnahme gesprochen wird, oder klonen Sie nur die Klangfarbe der Stimme.</translation>
    </message>
    <message>
        <source>Scaled down from {width} x {height} to {less} x {lower} pixels.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Von {width} × {height} auf {less} × {lower} Pixel verkleinert.</translation>
    </message>
    <message>
        <source>Screen capture</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Bildschirmausschnitt</translation>
    </message>
    <message>
        <source>Seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Siegel</translation>
    </message>
    <message>
        <source>Search</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face durchsuchen</translation>
    </message>
    <message>
        <source>Search Hugging Face, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face durchsuchen, dann Eingabetaste</translation>
    </message>
    <message>
        <source>Search in all conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>In allen Unterhaltungen suchen</translation>
    </message>
    <message>
        <source>Search in the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>In der Bibliothek suchen</translation>
    </message>
    <message>
        <source>Searches the libraries in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Durchsucht die Bibliotheken in den Ordnern, die Sie wählen.</translation>
    </message>
    <message>
        <source>Searches the web through an address of yours: SearXNG, or Brave with a key. Queries leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Sucht im Web über eine eigene Adresse: SearXNG, oder Brave mit einem Schlüssel. Anfragen verlassen diesen Rechner.</translation>
    </message>
    <message>
        <source>Searching Hugging Face for {words}.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Hugging Face wird nach {words} durchsucht.</translation>
    </message>
    <message>
        <source>Searching your documents.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Ihre Dokumente werden durchsucht.</translation>
    </message>
    <message>
        <source>See what is installed, or download a recommended model that fits.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Sehen Sie, was installiert ist, oder laden Sie ein empfohlenes Modell herunter, das passt.</translation>
    </message>
    <message>
        <source>Seed</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>Send</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Senden (Enter)</translation>
    </message>
    <message>
        <source>Separate origins with commas. * allows all.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Ursprünge durch Kommas trennen. * erlaubt alle.</translation>
    </message>
    <message>
        <source>Server</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Server</translation>
    </message>
    <message>
        <source>Settings</source>
        <extracomment>app/gui/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Settings of this conversation</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Einstellungen dieser Unterhaltung</translation>
    </message>
    <message>
        <source>Settings of {name}</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Einstellungen von {name}</translation>
    </message>
    <message>
        <source>Settings say to work offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>In den Einstellungen ist „Offline arbeiten“ aktiviert</translation>
    </message>
    <message>
        <source>Several draft tokens are verified in one step. Replies come sooner and stay the same.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Mehrere Entwurfstoken werden in einem Schritt geprüft. Antworten kommen früher und bleiben gleich.</translation>
    </message>
    <message>
        <source>Shortened to {n} characters.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>Auf {n} Zeichen gekürzt.</translation>
    </message>
    <message>
        <source>Show</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Anzeigen</translation>
    </message>
    <message>
        <source>Show Grus</source>
        <extracomment>app/gui/desktop.py, app/gui/hotkey.py</extracomment>
        <translation>Grus anzeigen</translation>
    </message>
    <message numerus="yes">
        <source>Show all, {n} lines</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>Alles anzeigen, {n} Zeile</numerusform>
            <numerusform>Alles anzeigen, {n} Zeilen</numerusform>
        </translation>
    </message>
    <message>
        <source>Show data folder</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Datenordner anzeigen</translation>
    </message>
    <message>
        <source>Show folder</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Ordner anzeigen</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Im Ordner anzeigen</translation>
    </message>
    <message>
        <source>Show less</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Weniger anzeigen</translation>
    </message>
    <message>
        <source>Show me</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Zeigen Sie es mir</translation>
    </message>
    <message>
        <source>Show on Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Auf Hugging Face anzeigen</translation>
    </message>
    <message>
        <source>Show or hide reasoning</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Überlegungen ein- oder ausblenden</translation>
    </message>
    <message>
        <source>Show reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Überlegungen anzeigen</translation>
    </message>
    <message>
        <source>Show the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Aufruf anzeigen</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Ordner anzeigen</translation>
    </message>
    <message>
        <source>Show the log</source>
        <extracomment>app/gui/settings/pane.py, app/gui/window.py</extracomment>
        <translation>Protokoll anzeigen</translation>
    </message>
    <message>
        <source>Show the log of {name}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Protokoll von {name} anzeigen</translation>
    </message>
    <message>
        <source>Show tokens and time under replies</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Token und Zeit unter Antworten anzeigen</translation>
    </message>
    <message>
        <source>Show tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Werkzeuge anzeigen</translation>
    </message>
    <message>
        <source>Show under every reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Unter jeder Antwort anzeigen</translation>
    </message>
    <message>
        <source>Show {what}</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>{what} anzeigen</translation>
    </message>
    <message>
        <source>Side note</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Randnotiz</translation>
    </message>
    <message>
        <source>Sign in</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Anmelden</translation>
    </message>
    <message>
        <source>Sign in at {host} in your browser. Grus waits for the answer.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Melden Sie sich im Browser bei {host} an. Grus wartet auf die Antwort.</translation>
    </message>
    <message>
        <source>Sign out</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Abmelden</translation>
    </message>
    <message>
        <source>Simple conversations in many languages with little memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Einfache Unterhaltungen in vielen Sprachen mit wenig Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>Simple conversations, tools and code, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Einfache Unterhaltungen, Tools und Code, für Geräte mit 16 GB.</translation>
    </message>
    <message>
        <source>Small and fast, in many languages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Klein und schnell, in vielen Sprachen. Schlussfolgern ist zuschaltbar.</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Kleinere Schrift</translation>
    </message>
    <message>
        <source>Snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Codeausschnitt</translation>
    </message>
    <message>
        <source>Something is being spoken. Wait for it, or stop it.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Gerade wird etwas gesprochen. Warten Sie, oder stoppen Sie es.</translation>
    </message>
    <message>
        <source>Something went wrong inside Grus: {error}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>In Grus ist ein Fehler aufgetreten: {error}.</translation>
    </message>
    <message>
        <source>Sorts the passages of a search by how well they answer the question.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Sortiert die Stellen einer Suche danach, wie gut sie die Frage beantworten.</translation>
    </message>
    <message>
        <source>Spark-TTS has no voice {name}. It has: female, male.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS hat keine Stimme {name}. Verfügbar: female, male.</translation>
    </message>
    <message>
        <source>Spark-TTS speaks Chinese and English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS spricht Chinesisch und Englisch, nicht {language}.</translation>
    </message>
    <message>
        <source>Spark-TTS takes no instructions for a cloned voice: pitch and speed are the recording&apos;s.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS nimmt für eine geklonte Stimme keine Anweisungen an: Tonhöhe und Tempo kommen aus der Aufnahme.</translation>
    </message>
    <message>
        <source>Speak</source>
        <extracomment>app/gui/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Sprechen</translation>
    </message>
    <message>
        <source>Speak the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Text sprechen</translation>
    </message>
    <message>
        <source>Speak to interrupt the voice.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Sprechen Sie, um die Stimme zu unterbrechen.</translation>
    </message>
    <message>
        <source>Speaker {number}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>Sprecher {number}</translation>
    </message>
    <message>
        <source>Speakers</source>
        <extracomment>app/gui/listen/speakers.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Sprecher</translation>
    </message>
    <message>
        <source>Speakers whom you name in Listen are named in the next recording, where a model that recognizes voices is installed. What is kept of a voice are numbers, on this machine only.</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Wen Sie in „Zuhören“ benennen, der wird in der nächsten Aufnahme erkannt, wenn ein Modell installiert ist, das Stimmen wiedererkennt. Von einer Stimme werden nur Zahlen gespeichert, und nur auf diesem Rechner.</translation>
    </message>
    <message>
        <source>Speaking</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Spricht</translation>
    </message>
    <message>
        <source>Speaking style: cheerful, slow, slightly hoarse</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Sprechweise: fröhlich, langsam, leicht heiser</translation>
    </message>
    <message>
        <source>Speaks 600 languages, in a voice that you describe or in that of a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Spricht 600 Sprachen, mit einer Stimme, die Sie beschreiben, oder der einer Aufnahme.</translation>
    </message>
    <message>
        <source>Speaks English, in the voice of a recording of a few seconds, and as expressively as you choose.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Spricht Englisch mit der Stimme einer Aufnahme von wenigen Sekunden, so ausdrucksvoll, wie Sie es wählen.</translation>
    </message>
    <message>
        <source>Speculative decoding</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Spekulatives Decoding</translation>
    </message>
    <message>
        <source>Speech</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Speed</source>
        <extracomment>app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Split here</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Hier teilen</translation>
    </message>
    <message>
        <source>Start or stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Server starten oder stoppen</translation>
    </message>
    <message>
        <source>Start server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Server starten</translation>
    </message>
    <message>
        <source>Starting</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Wird gestartet</translation>
    </message>
    <message>
        <source>Starting the tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Die Werkzeuge werden gestartet.</translation>
    </message>
    <message>
        <source>Starting {name}.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} wird gestartet.</translation>
    </message>
    <message>
        <source>Status</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Status</translation>
    </message>
    <message>
        <source>Stop</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/listen/pane.py, app/gui/speak/pane.py, app/gui/window.py</extracomment>
        <translation>Stoppen</translation>
    </message>
    <message>
        <source>Stop (Esc)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Stoppen (Esc)</translation>
    </message>
    <message>
        <source>Stop dictating</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Diktat beenden</translation>
    </message>
    <message>
        <source>Stop recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Aufnahme beenden</translation>
    </message>
    <message>
        <source>Stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Server stoppen</translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Sprachausgabe stoppen</translation>
    </message>
    <message>
        <source>Stop the server to change these.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Stoppen Sie den Server, um dies zu ändern.</translation>
    </message>
    <message>
        <source>Stop transcribing</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Transkription stoppen</translation>
    </message>
    <message>
        <source>Stopped</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/chat/preview.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Gestoppt</translation>
    </message>
    <message>
        <source>Stopped after {done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Gestoppt nach {done} von {total} Seiten</translation>
    </message>
    <message>
        <source>Subtitles (SRT)</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Untertitel (SRT)</translation>
    </message>
    <message>
        <source>Switch between light and dark</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Zwischen Hell und Dunkel wechseln</translation>
    </message>
    <message>
        <source>System</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>System</translation>
    </message>
    <message>
        <source>System prompt</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>System prompt and sampling</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Systemprompt und Sampling</translation>
    </message>
    <message>
        <source>Table</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/read/document.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>Tags in the text control the voice: {tags}.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Tags im Text steuern die Stimme: {tags}.</translation>
    </message>
    <message>
        <source>Takes effect after a restart of Grus.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Wirkt nach einem Neustart von Grus.</translation>
    </message>
    <message>
        <source>Talk</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Talk needs a speech recognition model and a text-to-speech model. Download {names} here, then try again.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Gespräche brauchen ein Modell für Spracherkennung und eines für Sprachausgabe. Laden Sie hier {names} herunter und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>Tell speakers apart</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>Sprecher unterscheiden</translation>
    </message>
    <message>
        <source>Tells who speaks when in a recording, beside a model that transcribes: up to four speakers.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Erkennt neben einem Modell, das transkribiert, wer in einer Aufnahme wann spricht: bis zu vier Personen.</translation>
    </message>
    <message>
        <source>Temperature</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Tensor parallelism</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Tensorparallelität</translation>
    </message>
    <message>
        <source>Text</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Text</translation>
    </message>
    <message>
        <source>Text of the segment</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>Text des Segments</translation>
    </message>
    <message>
        <source>Text only</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Nur Text</translation>
    </message>
    <message>
        <source>Text size</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Schriftgröße</translation>
    </message>
    <message>
        <source>Text to speak</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Zu sprechender Text</translation>
    </message>
    <message>
        <source>Text with positions</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Text mit Positionen</translation>
    </message>
    <message>
        <source>Texts</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Texte</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be downloaded: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Das CUDA-Paket kann nicht heruntergeladen werden: {reason}.</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be removed: {reason}. Close every Grus that uses it first.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Das CUDA-Paket kann nicht entfernt werden: {reason}. Zuerst jedes Grus schließen, das es benutzt.</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be unpacked: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Das CUDA-Paket kann nicht entpackt werden: {reason}.</translation>
    </message>
    <message>
        <source>The CUDA pack needs {needed}, but {folder} has only {free} left. {variable} names another place.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Das CUDA-Paket braucht {needed}, in {folder} sind nur {free} frei. {variable} nennt einen anderen Ort.</translation>
    </message>
    <message>
        <source>The Hugging Face cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Hugging-Face-Cache</translation>
    </message>
    <message>
        <source>The Hugging Face cache, shared with other programs</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Der Hugging-Face-Cache, mit anderen Programmen geteilt</translation>
    </message>
    <message>
        <source>The PDF has no pages.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Das PDF hat keine Seiten.</translation>
    </message>
    <message>
        <source>The PDF is damaged or incomplete.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Das PDF ist beschädigt oder unvollständig.</translation>
    </message>
    <message>
        <source>The PDF is protected. Give its password.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Das PDF ist passwortgeschützt. Geben Sie das Passwort ein.</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} reads handwriting, formulas and other scripts, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Der Reader ist sich bei dieser Seite nicht sicher. {model} liest Handschrift, Formeln und andere Schriften, etwa {seconds} s je volle Seite auf diesem Computer.</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} with {layout} as its layout reads other scripts and photographs, line by line.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Der Reader ist sich bei dieser Seite nicht sicher. {model} mit {layout} als Layout liest andere Schriften und Fotos, Zeile für Zeile.</translation>
    </message>
    <message>
        <source>The address begins with http: others on the way can read what is sent, and the key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Die Adresse beginnt mit http: Andere auf dem Weg können mitlesen, was gesendet wird, auch den Schlüssel.</translation>
    </message>
    <message>
        <source>The address of a search is like https://searx.example.org or http://127.0.0.1:8080.</source>
        <extracomment>app/runtime/tools/web.py</extracomment>
        <translation>Die Adresse einer Suche sieht so aus: https://searx.example.org oder http://127.0.0.1:8080.</translation>
    </message>
    <message>
        <source>The best reasoning and code of its size, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Bestes Schlussfolgern und bester Code seiner Größe, für 32 GB schnellen Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>The certificate of {name} at {host} is not valid.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Das Zertifikat von {name} auf {host} ist ungültig.</translation>
    </message>
    <message>
        <source>The chat model in memory corrects punctuation, capitals, filler words and slips. Without one, the text is typed as it was spoken. The last texts as they were spoken are kept here until Grus is closed.</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Das geladene Chatmodell berichtigt Zeichensetzung, Großschreibung, Füllwörter und Versprecher. Ohne ein solches wird der Text so getippt, wie er gesprochen wurde. Die letzten Texte im Wortlaut bleiben hier, bis Grus geschlossen wird.</translation>
    </message>
    <message>
        <source>The chat template of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Die Chat-Vorlage dieses Modells lässt sich nicht verwenden.</translation>
    </message>
    <message>
        <source>The clipboard contains no image and no file.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Die Zwischenablage enthält kein Bild und keine Datei.</translation>
    </message>
    <message>
        <source>The configuration of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Die Konfiguration dieses Modells lässt sich nicht verwenden.</translation>
    </message>
    <message>
        <source>The date, the day of the week and the time.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Datum, Wochentag und Uhrzeit.</translation>
    </message>
    <message>
        <source>The desktop did not give the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>Die Desktop-Umgebung hat das Tastenkürzel nicht vergeben. Leeren Sie das Feld und drücken Sie die Tasten noch einmal.</translation>
    </message>
    <message>
        <source>The desktop ended the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>Die Desktop-Umgebung hat das Tastenkürzel beendet. Leeren Sie das Feld und drücken Sie die Tasten noch einmal.</translation>
    </message>
    <message>
        <source>The disk has too little room for what is in this archive.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Auf dem Datenträger ist zu wenig Platz für den Inhalt dieses Archivs.</translation>
    </message>
    <message>
        <source>The disk is full, so {repo} could not be downloaded to its end{where}. What arrived is kept: make room, and download it again to continue.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Das Laufwerk ist voll, daher konnte {repo} nicht vollständig heruntergeladen werden{where}. Was angekommen ist, bleibt erhalten: Schaffen Sie Platz und laden Sie es erneut herunter, um fortzufahren.</translation>
    </message>
    <message>
        <source>The download of {name} was interrupted. Start it again: it continues from there.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Der Download von {name} wurde unterbrochen. Starten Sie ihn erneut: Er wird fortgesetzt.</translation>
    </message>
    <message>
        <source>The engine failed: {kind}: {error}</source>
        <extracomment>engine/engine.py, engine/tasks.py</extracomment>
        <translation>Die Engine ist fehlgeschlagen: {kind}: {error}</translation>
    </message>
    <message>
        <source>The engine has been stopped.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Die Engine wurde gestoppt.</translation>
    </message>
    <message>
        <source>The engine is starting.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Die Engine startet.</translation>
    </message>
    <message>
        <source>The engine was stopped before the request ended.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Die Engine wurde gestoppt, bevor die Anfrage fertig war.</translation>
    </message>
    <message>
        <source>The fact was deleted.</source>
        <extracomment>app/gui/viewmodels/memories.py</extracomment>
        <translation>Die Tatsache wurde gelöscht.</translation>
    </message>
    <message>
        <source>The fastest: short answers, summaries and first drafts on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Das schnellste: kurze Antworten, Zusammenfassungen und erste Entwürfe auf jedem Gerät.</translation>
    </message>
    <message>
        <source>The file holds XML that expands itself or never ends; it is not opened.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Die Datei enthält XML, das sich selbst vermehrt oder nicht endet. Sie wird nicht geöffnet.</translation>
    </message>
    <message>
        <source>The file is damaged or incomplete ({kind}).</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Die Datei ist beschädigt oder unvollständig ({kind}).</translation>
    </message>
    <message>
        <source>The file is empty.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Die Datei ist leer.</translation>
    </message>
    <message>
        <source>The file is larger than can be read here.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>Die Datei ist zu groß, um hier gelesen zu werden.</translation>
    </message>
    <message>
        <source>The file is protected with a password. Save a copy without one.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Die Datei ist passwortgeschützt. Speichern Sie eine Kopie ohne Passwort.</translation>
    </message>
    <message>
        <source>The file unpacks to more than can be read here: it is damaged, or made to do harm.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Die Datei ist entpackt zu groß, um hier gelesen zu werden: Sie ist beschädigt oder soll Schaden anrichten.</translation>
    </message>
    <message>
        <source>The file with your conversations was damaged. It was saved as {file}, and Grus started with a new one.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Die Datei mit Ihren Unterhaltungen war beschädigt. Sie wurde als {file} gespeichert, und Grus hat mit einer neuen begonnen.</translation>
    </message>
    <message>
        <source>The format {kind} is not supported. Choose a format from the list.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Das Format {kind} wird nicht unterstützt. Wählen Sie ein Format aus der Liste.</translation>
    </message>
    <message>
        <source>The hub does not say which version of {name} it has. Try again later.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>Hugging Face nennt nicht, in welcher Version {name} vorliegt. Versuchen Sie es später erneut.</translation>
    </message>
    <message>
        <source>The hub redirects a file in a circle. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face leitet eine Datei im Kreis weiter. Versuchen Sie es später erneut.</translation>
    </message>
    <message>
        <source>The image has no pixels.</source>
        <extracomment>engine/media/documents.py, engine/media/image.py</extracomment>
        <translation>Das Bild hat keine Pixel.</translation>
    </message>
    <message>
        <source>The image has pixels of floating point, which have no fixed white. Save it with 8 bits.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Das Bild hat Gleitkomma-Pixel ohne festen Weißwert. Speichern Sie es mit 8 Bit.</translation>
    </message>
    <message>
        <source>The image has too many pixels; the most is {most}.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Das Bild hat zu viele Pixel; höchstens {most} sind möglich.</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than can be read ({most}).</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Das Bild hat {width} × {height} Pixel, mehr als gelesen werden kann ({most}).</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than the memory that is free can hold.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Das Bild hat {width} × {height} Pixel, mehr als der freie Arbeitsspeicher fasst.</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels; the most is {most} in all.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Das Bild hat {width} × {height} Pixel; höchstens {most} insgesamt sind möglich.</translation>
    </message>
    <message>
        <source>The image is damaged or incomplete ({kind}).</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Das Bild ist beschädigt oder unvollständig ({kind}).</translation>
    </message>
    <message>
        <source>The image is empty.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Das Bild ist leer.</translation>
    </message>
    <message>
        <source>The image needs more memory than is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Das Bild braucht mehr Arbeitsspeicher, als frei ist.</translation>
    </message>
    <message>
        <source>The image needs more memory than there is. Send a smaller one.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Das Bild braucht mehr Arbeitsspeicher, als vorhanden ist. Verwenden Sie ein kleineres.</translation>
    </message>
    <message>
        <source>The index was made by a newer version of Grus.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>Der Index stammt von einer neueren Version von Grus.</translation>
    </message>
    <message>
        <source>The key is copied.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Der Schlüssel ist kopiert.</translation>
    </message>
    <message>
        <source>The library that runs models.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Die Bibliothek, die Modelle ausführt.</translation>
    </message>
    <message>
        <source>The list of new versions cannot be read. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Die Liste der neuen Versionen kann nicht gelesen werden. Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>The list of new versions is not trusted: {reason}. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Der Liste der neuen Versionen wird nicht vertraut: {reason}. Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>The list of new versions is too large. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Die Liste der neuen Versionen ist zu groß. Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>The log has more.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Mehr steht im Protokoll.</translation>
    </message>
    <message>
        <source>The loudspeaker was disconnected. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Der Lautsprecher wurde getrennt. Schließen Sie einen an und spielen Sie noch einmal.</translation>
    </message>
    <message>
        <source>The maximum length was reached. Press Continue for more.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Die maximale Länge wurde erreicht. Mit „Fortsetzen“ geht es weiter.</translation>
    </message>
    <message>
        <source>The message was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Die Nachricht wurde gelöscht.</translation>
    </message>
    <message>
        <source>The microphone could not be opened. Is another program using it?</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Das Mikrofon ließ sich nicht öffnen. Benutzt es ein anderes Programm?</translation>
    </message>
    <message>
        <source>The microphone was disconnected. The recording so far is kept. Connect a microphone, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Das Mikrofon wurde getrennt. Die bisherige Aufnahme bleibt erhalten. Schließen Sie ein Mikrofon an und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>The model chosen last</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Das zuletzt gewählte Modell</translation>
    </message>
    <message>
        <source>The model is not sure of this text.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>Das Modell ist bei diesem Text unsicher.</translation>
    </message>
    <message>
        <source>The model made no voice of these words. Try another seed.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Das Modell hat aus diesen Worten keine Stimme erzeugt. Versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>The model may call this tool.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Das Modell darf dieses Werkzeug aufrufen.</translation>
    </message>
    <message>
        <source>The model {model} writes no text.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>Das Modell {model} schreibt keinen Text.</translation>
    </message>
    <message>
        <source>The model {name} cannot be used here.</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Das Modell {name} lässt sich hier nicht verwenden.</translation>
    </message>
    <message>
        <source>The model {name} could not be loaded: {kind}: {error}</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Das Modell {name} konnte nicht geladen werden: {kind}: {error}</translation>
    </message>
    <message>
        <source>The model {name} is not loaded.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Das Modell {name} ist nicht geladen.</translation>
    </message>
    <message>
        <source>The model {name} takes {size} MiB; the memory limit is {limit} MiB, and its sequences need room too.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>Das Modell {name} belegt {size} MiB; die Speichergrenze liegt bei {limit} MiB, und auch seine Sequenzen brauchen Platz.</translation>
    </message>
    <message>
        <source>The name or folder of a small model with the same vocabulary, or of an EAGLE-3 head made for the model.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Name oder Ordner eines kleinen Modells mit demselben Vokabular oder eines EAGLE-3-Kopfes für das Modell.</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Die neue Version ist heruntergeladen, und ihre Signatur ist gültig.</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid. In a terminal: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Die neue Version ist heruntergeladen, und ihre Signatur ist gültig. In einem Terminal: {command}</translation>
    </message>
    <message>
        <source>The page</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Die Seite</translation>
    </message>
    <message>
        <source>The page can load nothing from the network and send nothing.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Die Seite kann nichts aus dem Netz laden und nichts senden.</translation>
    </message>
    <message>
        <source>The page is empty.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>Die Seite ist leer.</translation>
    </message>
    <message>
        <source>The password is wrong.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Das Passwort ist falsch.</translation>
    </message>
    <message>
        <source>The process that answered has ended: {why}. Send the request again.</source>
        <extracomment>engine/parallel/replica_scheduler.py</extracomment>
        <translation>Der Prozess, der geantwortet hat, ist beendet: {why}. Senden Sie die Anfrage noch einmal.</translation>
    </message>
    <message>
        <source>The project was removed. Its conversations are still here.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Das Projekt wurde entfernt. Seine Unterhaltungen sind noch da.</translation>
    </message>
    <message>
        <source>The prompt has {tokens} tokens; the context holds {limit}, and a reply needs room too. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>Der Prompt hat {tokens} Token; der Kontext fasst {limit}, und auch die Antwort braucht Platz. Kürzen Sie ihn.</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>Der Prompt ist leer.</translation>
    </message>
    <message>
        <source>The reading was stopped.</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>Das Lesen wurde gestoppt.</translation>
    </message>
    <message>
        <source>The recording is clipped: {share} of its samples are as loud as it goes. Record it again, quieter.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Die Aufnahme ist übersteuert: {share} der Abtastwerte sind am Anschlag. Nehmen Sie leiser noch einmal auf.</translation>
    </message>
    <message>
        <source>The recording is silent.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Die Aufnahme ist stumm.</translation>
    </message>
    <message>
        <source>The recording lasts {seconds} seconds. A voice can be taken from {least} to {most}; 3 to 15 are best.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Die Aufnahme dauert {seconds} Sekunden. Für eine Stimme sind {least} bis {most} möglich; am besten 3 bis 15.</translation>
    </message>
    <message>
        <source>The recording of {name} is too short to know the voice again.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>Die Aufnahme von {name} ist zu kurz, um die Stimme wiederzuerkennen.</translation>
    </message>
    <message>
        <source>The recording&apos;s codes do not belong to this model. Make the voice again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Die Codes der Aufnahme gehören nicht zu diesem Modell. Erstellen Sie die Stimme neu.</translation>
    </message>
    <message>
        <source>The same seed gives the same answer.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Derselbe Startwert gibt dieselbe Antwort.</translation>
    </message>
    <message>
        <source>The same, with fewer errors.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Dasselbe, mit weniger Fehlern.</translation>
    </message>
    <message>
        <source>The server {name} was removed, with its key.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>Der Server {name} wurde mit seinem Schlüssel entfernt.</translation>
    </message>
    <message>
        <source>The servers cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Die Server können nicht in {file} gespeichert werden: {reason}.</translation>
    </message>
    <message>
        <source>The system has no voice that speaks {language}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Das System hat keine Stimme, die {language} spricht.</translation>
    </message>
    <message>
        <source>The system has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Das System hat keine Stimme {name}. Es hat: {voices}.</translation>
    </message>
    <message>
        <source>The system&apos;s voice failed ({reason}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>Die Stimme des Systems ist fehlgeschlagen ({reason}).</translation>
    </message>
    <message>
        <source>The system&apos;s voices clone none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Die Stimmen des Systems klonen keine. Zum Klonen dient ein Modell Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>The system&apos;s voices take no instructions.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Die Stimmen des Systems nehmen keine Anweisungen an.</translation>
    </message>
    <message>
        <source>The text</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Der Text</translation>
    </message>
    <message>
        <source>The text cannot be typed ({error}); it is in the clipboard. On Debian, install libxtst6.</source>
        <extracomment>app/gui/keyboard/x11_paste.py</extracomment>
        <translation>Der Text kann nicht eingefügt werden ({error}); er liegt in der Zwischenablage. Unter Debian libxtst6 installieren.</translation>
    </message>
    <message>
        <source>The text has {length} characters; the most is {most}.</source>
        <extracomment>engine/pipelines/reading/book.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>Der Text hat {length} Zeichen; möglich sind höchstens {most}.</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} are spoken at once.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Der Text hat {length} Zeichen; {most} werden auf einmal gesprochen.</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} can be spoken at once.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Der Text hat {length} Zeichen; {most} können auf einmal gesprochen werden.</translation>
    </message>
    <message>
        <source>The text has {tokens} tokens; the context holds {limit}. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>Der Text hat {tokens} Token; der Kontext fasst {limit}. Kürzen Sie ihn.</translation>
    </message>
    <message>
        <source>The text is longer than its place on the page can hold.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>Der Text ist länger, als sein Platz auf der Seite zulässt.</translation>
    </message>
    <message>
        <source>The text repeats itself.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>Der Text wiederholt sich.</translation>
    </message>
    <message>
        <source>The text was read.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>Der Text wurde gelesen.</translation>
    </message>
    <message>
        <source>The token cannot be kept in {file}: {reason}.</source>
        <extracomment>engine/secret_store.py</extracomment>
        <translation>Das Token lässt sich nicht in {file} speichern: {reason}.</translation>
    </message>
    <message>
        <source>The tokenizer of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Der Tokenizer dieses Modells lässt sich nicht verwenden.</translation>
    </message>
    <message>
        <source>The tools cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Die Werkzeuge lassen sich nicht in {file} speichern: {reason}.</translation>
    </message>
    <message>
        <source>The tools file {file} cannot be read: {error}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Die Werkzeugdatei {file} lässt sich nicht lesen: {error}.</translation>
    </message>
    <message>
        <source>The tools file {file} is damaged. Correct it or delete it.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Die Werkzeugdatei {file} ist beschädigt. Korrigieren oder löschen Sie sie.</translation>
    </message>
    <message>
        <source>The voice did not come to an end. Try again, or with a shorter text.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Die Sprachausgabe kam nicht zu Ende. Versuchen Sie es erneut, oder mit einem kürzeren Text.</translation>
    </message>
    <message>
        <source>The voice has {size} numbers and this model wants {wanted}: it was made for a model of another size. Make it again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Die Stimme hat {size} Werte, dieses Modell braucht {wanted}: Sie wurde mit einem Modell anderer Größe erstellt. Erstellen Sie sie neu.</translation>
    </message>
    <message>
        <source>The voice was made for another model. Make it again.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py, engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Die Stimme wurde für ein anderes Modell erstellt. Erstellen Sie sie neu.</translation>
    </message>
    <message>
        <source>The voice {name} does not fit this model.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Die Stimme {name} passt nicht zu diesem Modell.</translation>
    </message>
    <message>
        <source>The voice {name} is damaged. Make it again from {sample}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Die Stimme {name} ist beschädigt. Erstellen Sie sie neu aus {sample}.</translation>
    </message>
    <message>
        <source>The voice {name} is damaged: {path}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Die Stimme {name} ist beschädigt: {path}.</translation>
    </message>
    <message>
        <source>The voice {name} is saved.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Die Stimme {name} ist gespeichert.</translation>
    </message>
    <message>
        <source>The voice {name} was deleted.</source>
        <extracomment>app/gui/viewmodels/known_voices.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Die Stimme {name} wurde gelöscht.</translation>
    </message>
    <message>
        <source>The weights of this model are damaged or incomplete.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Die Gewichte dieses Modells sind beschädigt oder unvollständig.</translation>
    </message>
    <message>
        <source>The weights take {weights} of the {limit} that may be used, which leaves no room for a conversation. Choose a smaller or more strongly quantized model, or raise the memory limit.</source>
        <extracomment>engine/shares.py</extracomment>
        <translation>Die Gewichte belegen {weights} von {limit}, die verwendet werden dürfen; für eine Unterhaltung bleibt kein Platz. Wählen Sie ein kleineres oder stärker quantisiertes Modell, oder erhöhen Sie die Speichergrenze.</translation>
    </message>
    <message>
        <source>There are no documents and no images in the folder {path}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>Im Ordner {path} sind keine Dokumente und keine Bilder.</translation>
    </message>
    <message>
        <source>There is a voice called {name} already. Choose another name, or delete it first.</source>
        <extracomment>engine/pipelines/speaking/voice.py, app/runtime/voice.py</extracomment>
        <translation>Es gibt schon eine Stimme namens {name}. Wählen Sie einen anderen Namen, oder löschen Sie sie zuerst.</translation>
    </message>
    <message>
        <source>There is no file {path}.</source>
        <extracomment>engine/media/documents.py, app/runtime/imports/export_file.py</extracomment>
        <translation>Die Datei {path} gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no folder {path}.</source>
        <extracomment>engine/pipelines/reading/watching.py, app/runtime/library/folders.py, app/runtime/library/indexer.py</extracomment>
        <translation>Den Ordner {path} gibt es nicht.</translation>
    </message>
    <message>
        <source>There is no other model</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Es gibt kein anderes Modell</translation>
    </message>
    <message>
        <source>There is no room for another model while those that are loaded work.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Solange die geladenen Modelle arbeiten, ist kein Platz für ein weiteres.</translation>
    </message>
    <message>
        <source>There is no room for another model: all that are loaded are pinned.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>Für ein weiteres Modell ist kein Platz: Alle geladenen sind fixiert.</translation>
    </message>
    <message>
        <source>There is no saved voice called {name}. Saved: {known}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Es gibt keine gespeicherte Stimme namens {name}. Gespeichert: {known}.</translation>
    </message>
    <message>
        <source>There is no server {name} here. Added: {have}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Es gibt hier keinen Server {name}. Hinzugefügt: {have}.</translation>
    </message>
    <message>
        <source>There is no text to speak.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py, engine/pipelines/speaking/system_voice.py, engine/pipelines/speaking/voice.py</extracomment>
        <translation>Es gibt keinen Text zum Sprechen.</translation>
    </message>
    <message>
        <source>There is no tool server {name}. Added: {have}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Es gibt keinen Werkzeugserver {name}. Hinzugefügt: {have}.</translation>
    </message>
    <message>
        <source>There is no voice {name}. Choose one of {voices}.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Es gibt keine Stimme {name}. Wählen Sie eine von {voices}.</translation>
    </message>
    <message>
        <source>There is nothing to say: the text is empty.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py, engine/pipelines/speaking/qwen3_tts.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>Es gibt nichts zu sprechen: Der Text ist leer.</translation>
    </message>
    <message>
        <source>There was nothing to speak.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>Es gab nichts zu sprechen.</translation>
    </message>
    <message>
        <source>These hold for all conversations in the project, also for those that are there already.</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Dies gilt für alle Unterhaltungen im Projekt, auch für solche, die es schon gibt.</translation>
    </message>
    <message>
        <source>This JSON file contains no conversation: it has no list of messages.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Diese JSON-Datei enthält keine Unterhaltung: Eine Liste von Nachrichten fehlt.</translation>
    </message>
    <message>
        <source>This address belongs to no sign-in that is waited for.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Diese Adresse gehört zu keiner Anmeldung, auf die gewartet wird.</translation>
    </message>
    <message>
        <source>This address comes from the model. Open it in your browser?</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Diese Adresse stammt vom Modell. Im Browser öffnen?</translation>
    </message>
    <message>
        <source>This archive cannot be imported: a part of it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Dieses Archiv kann nicht importiert werden: Ein Teil davon ist beschädigt.</translation>
    </message>
    <message>
        <source>This archive is not a document that can be read: no docx, pptx, xlsx, odt, ods, odp or epub.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Dieses Archiv ist kein lesbares Dokument: weder docx, pptx, xlsx, odt, ods, odp noch epub.</translation>
    </message>
    <message>
        <source>This archive was made by a newer Grus. Update Grus to import it.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Dieses Archiv stammt von einem neueren Grus. Aktualisieren Sie Grus, um es zu importieren.</translation>
    </message>
    <message>
        <source>This conversation cannot be imported: one of its messages is incomplete.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Diese Unterhaltung lässt sich nicht importieren: Eine Nachricht ist unvollständig.</translation>
    </message>
    <message>
        <source>This conversation was exported by a newer version of Grus. Update Grus to import it.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Diese Unterhaltung wurde mit einer neueren Version von Grus exportiert. Aktualisieren Sie Grus, um sie zu importieren.</translation>
    </message>
    <message>
        <source>This copy of Chatterbox cannot clone: it is without its speech tokenizer. Put model.safetensors of mlx-community/S3TokenizerV2 beside it as {name}, or use ResembleAI/chatterbox.</source>
        <extracomment>engine/models/chatterbox_encoder.py</extracomment>
        <translation>Diese Kopie von Chatterbox kann keine Stimmen klonen: Der Sprach-Tokenizer fehlt. Legen Sie model.safetensors aus mlx-community/S3TokenizerV2 als {name} daneben, oder verwenden Sie ResembleAI/chatterbox.</translation>
    </message>
    <message>
        <source>This copy of Chatterbox comes without a voice. Clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Diese Kopie von Chatterbox bringt keine Stimme mit. Klonen Sie eine aus einer Aufnahme.</translation>
    </message>
    <message>
        <source>This desktop does not let apps capture the screen. Take a screenshot with the desktop&apos;s own tool, then paste it here.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Diese Desktop-Umgebung erlaubt Apps keine Bildschirmaufnahmen. Nehmen Sie ein Bildschirmfoto mit deren eigenem Werkzeug auf und fügen Sie es hier ein.</translation>
    </message>
    <message>
        <source>This desktop does not let apps see a key that is held. In its keyboard settings, add a shortcut for the command {command}, which begins dictation, and the next time ends it.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Diese Desktop-Umgebung lässt Apps keine gehaltene Taste erkennen. Legen Sie in ihren Tastatureinstellungen ein Kürzel für den Befehl {command} an, der das Diktat beginnt und beim nächsten Mal beendet.</translation>
    </message>
    <message>
        <source>This desktop does not let apps set global shortcuts. In its keyboard settings, add a shortcut for the command {command}, which brings the window to the front.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>Diese Desktop-Umgebung erlaubt Apps keine globalen Tastenkürzel. Legen Sie in ihren Tastatureinstellungen ein Kürzel für den Befehl {command} an, der das Fenster nach vorn holt.</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others, so the text is in the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>Diese Desktop-Umgebung lässt keine App in andere schreiben, darum liegt der Text in der Zwischenablage. Installieren Sie wtype (Sway, Hyprland) oder ydotool mit seinem Dienst (jede Desktop-Umgebung).</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others. Copy puts the text into the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service and wl-clipboard (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>Diese Desktop-Umgebung lässt keine App in andere schreiben. „Kopieren“ legt den Text in die Zwischenablage. Installieren Sie wtype (Sway, Hyprland) oder ydotool mit seinem Dienst und wl-clipboard (jede Desktop-Umgebung).</translation>
    </message>
    <message>
        <source>This download was interrupted. What was downloaded is kept.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Dieser Download wurde unterbrochen. Was heruntergeladen wurde, bleibt erhalten.</translation>
    </message>
    <message>
        <source>This file is not JSON. Import a conversation that was exported as JSON.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Diese Datei ist kein JSON. Importieren Sie eine Unterhaltung, die als JSON exportiert wurde.</translation>
    </message>
    <message>
        <source>This file is not a Grus archive, or it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Diese Datei ist kein Archiv von Grus, oder sie ist beschädigt.</translation>
    </message>
    <message>
        <source>This is a Base model: it needs a recording of the voice that it is to speak in.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Dies ist ein Base-Modell: Es braucht eine Aufnahme der Stimme, in der es sprechen soll.</translation>
    </message>
    <message>
        <source>This is a HEIC image, which needs one more package here: pip install pillow-heif. Or save the picture as JPEG or PNG.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Dies ist ein HEIC-Bild; dafür fehlt ein Paket: pip install pillow-heif. Oder speichern Sie das Bild als JPEG oder PNG.</translation>
    </message>
    <message>
        <source>This is a binary Excel file (xlsb). Save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Dies ist eine binäre Excel-Datei (xlsb). Speichern Sie sie als xlsx.</translation>
    </message>
    <message>
        <source>This is an Outlook message (msg). Save it as eml, or print it to a PDF.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Dies ist eine Outlook-Nachricht (msg). Speichern Sie sie als eml, oder drucken Sie sie in ein PDF.</translation>
    </message>
    <message>
        <source>This is an old Excel file (xls). Open it in Excel or LibreOffice, and save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Dies ist eine alte Excel-Datei (xls). Öffnen Sie sie in Excel oder LibreOffice, und speichern Sie sie als xlsx.</translation>
    </message>
    <message>
        <source>This is an old Office file of a kind that is not read. Save it as docx, xlsx or pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Dies ist eine alte Office-Datei einer Art, die nicht gelesen wird. Speichern Sie sie als docx, xlsx oder pptx.</translation>
    </message>
    <message>
        <source>This is an old PowerPoint file (ppt). Open it in PowerPoint or LibreOffice, and save it as pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Dies ist eine alte PowerPoint-Datei (ppt). Öffnen Sie sie in PowerPoint oder LibreOffice, und speichern Sie sie als pptx.</translation>
    </message>
    <message>
        <source>This is an old Word file (doc). Open it in Word or LibreOffice, and save it as docx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Dies ist eine alte Word-Datei (doc). Öffnen Sie sie in Word oder LibreOffice, und speichern Sie sie als docx.</translation>
    </message>
    <message>
        <source>This is neither a document nor an image that can be read.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Dies ist weder ein Dokument noch ein lesbares Bild.</translation>
    </message>
    <message>
        <source>This is not an image that can be read: {formats} can.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Dies ist kein lesbares Bild. Möglich sind {formats}.</translation>
    </message>
    <message>
        <source>This is the Guide, a tiny helper that answers questions about Grus, in English.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Das ist der Guide, ein winziger Helfer, der auf Englisch Fragen zu Grus beantwortet.</translation>
    </message>
    <message>
        <source>This is too long for the model: over {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Das ist zu lang für das Modell: mehr als {tokens} Token, von denen es {limit} auf einmal verarbeiten kann.</translation>
    </message>
    <message>
        <source>This is too long for the model: {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Das ist zu lang für das Modell: {tokens} Token, von denen es {limit} auf einmal verarbeiten kann.</translation>
    </message>
    <message>
        <source>This machine could not be checked in time. Refresh in Models tries again.</source>
        <extracomment>engine/machine.py</extracomment>
        <translation>Dieser Rechner konnte nicht rechtzeitig geprüft werden. „Aktualisieren“ unter „Modelle“ versucht es erneut.</translation>
    </message>
    <message>
        <source>This machine only</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Nur dieses Gerät</translation>
    </message>
    <message>
        <source>This model also needs {model}. Download it in Models.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Dieses Modell benötigt außerdem {model}. Laden Sie es unter Modelle herunter.</translation>
    </message>
    <message>
        <source>This model creates a voice from a description. Describe one below.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Dieses Modell erzeugt eine Stimme aus einer Beschreibung. Beschreiben Sie unten eine.</translation>
    </message>
    <message>
        <source>This model does not speak {language}. It speaks {languages}.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Dieses Modell spricht {language} nicht. Es spricht {languages}.</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. Choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Dieses Modell kann keine Stimmen klonen. Wählen Sie eines, das es kann: Qwen3-TTS Base, Chatterbox oder Spark-TTS.</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. For “{name}” choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Dieses Modell kann keine Stimmen klonen. Wählen Sie für „{name}“ eines, das es kann: Qwen3-TTS Base, Chatterbox oder Spark-TTS.</translation>
    </message>
    <message>
        <source>This model has no voices of its own: it needs a recording of the voice.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Dieses Modell hat keine eigenen Stimmen: Es braucht eine Aufnahme der Stimme.</translation>
    </message>
    <message>
        <source>This model is gated: accept its terms on Hugging Face first. Then enter your token here.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Der Zugang zu diesem Modell ist beschränkt: Stimmen Sie zuerst auf Hugging Face den Bedingungen zu. Geben Sie dann hier Ihr Token ein.</translation>
    </message>
    <message>
        <source>This model needs a recorded voice. Create a new voice, or choose one.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Dieses Modell braucht eine aufgenommene Stimme. Erstellen Sie eine neue Stimme, oder wählen Sie eine.</translation>
    </message>
    <message>
        <source>This model speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Dieses Modell spricht Englisch, nicht {language}.</translation>
    </message>
    <message>
        <source>This model takes no instructions. The CustomVoice and VoiceDesign models of size 1.7B follow them.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Dieses Modell nimmt keine Anweisungen an. Die Modelle CustomVoice und VoiceDesign der Größe 1.7B befolgen sie.</translation>
    </message>
    <message>
        <source>This model was not found.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Dieses Modell wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>This month</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Dieser Monat</translation>
    </message>
    <message>
        <source>This page has a table. {model} reads tables as tables, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Diese Seite enthält eine Tabelle. {model} liest Tabellen als Tabellen, etwa {seconds} s je volle Seite auf diesem Computer.</translation>
    </message>
    <message>
        <source>This picture cannot be drawn.</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Dieses Bild kann nicht gezeichnet werden.</translation>
    </message>
    <message>
        <source>This picture defines entities, and is not drawn.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Dieses Bild definiert Entitäten und wird nicht gezeichnet.</translation>
    </message>
    <message>
        <source>This picture is too large for a preview.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Dieses Bild ist zu groß für eine Vorschau.</translation>
    </message>
    <message>
        <source>This release has no file of the kind {kind}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Zu dieser Version gibt es keine Datei der Art {kind}.</translation>
    </message>
    <message>
        <source>This system has no program that speaks ({hint}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>Dieses System hat kein Programm, das spricht ({hint}).</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Chatterbox.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Diese Stimme stammt von einem anderen Modell. Klonen Sie sie mit Chatterbox neu.</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Spark-TTS.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Diese Stimme wurde mit einem anderen Modell erstellt. Klonen Sie sie erneut mit Spark-TTS.</translation>
    </message>
    <message>
        <source>This week</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Diese Woche</translation>
    </message>
    <message>
        <source>Threads on battery</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Threads im Akkubetrieb</translation>
    </message>
    <message>
        <source>To another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Auf einen anderen Rechner</translation>
    </message>
    <message>
        <source>Today</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Tokens and time</source>
        <extracomment>app/gui/chat/message_buttons.py</extracomment>
        <translation>Token und Zeit</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Token pro Sekunde</translation>
    </message>
    <message>
        <source>Too large for this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Zu groß für dieses Gerät: braucht etwa {needed} von {has}.</translation>
    </message>
    <message>
        <source>Tool</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Tool</translation>
    </message>
    <message>
        <source>Tool call: {tool}</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Tool-Aufruf: {tool}</translation>
    </message>
    <message>
        <source>Tools</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/settings/tools.py</extracomment>
        <translation>Werkzeuge</translation>
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
        <translation>Erneut transkribieren</translation>
    </message>
    <message>
        <source>Transcribe speech</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Sprache transkribieren</translation>
    </message>
    <message>
        <source>Transcribes English speech while you talk, on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transkribiert englische Sprache, während Sie sprechen, auf jedem Gerät.</translation>
    </message>
    <message>
        <source>Transcribes long recordings in 25 European languages, with the time of every word.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transkribiert lange Aufnahmen in 25 europäischen Sprachen, mit der Zeit jedes Worts.</translation>
    </message>
    <message>
        <source>Transcribes speech in 30 languages, in noise as well.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transkribiert Sprache in 30 Sprachen, auch bei Lärm.</translation>
    </message>
    <message>
        <source>Transcribes speech in 8 languages, and answers questions about a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transkribiert Sprache in 8 Sprachen und beantwortet Fragen zu einer Aufnahme.</translation>
    </message>
    <message>
        <source>Transcribes speech in 99 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transkribiert Sprache in 99 Sprachen.</translation>
    </message>
    <message>
        <source>Transcript</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>Transkript</translation>
    </message>
    <message>
        <source>Transcript of the recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Transkript der Aufnahme</translation>
    </message>
    <message>
        <source>Transcript of the recording, for a closer voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Transkript der Aufnahme, für eine ähnlichere Stimme</translation>
    </message>
    <message>
        <source>Transcription</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Transkription</translation>
    </message>
    <message>
        <source>Troubleshooting</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Problembehandlung</translation>
    </message>
    <message>
        <source>Turned by 180 degrees.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Um 180 Grad gedreht.</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the left.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Um 90 Grad nach links gedreht.</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the right.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Um 90 Grad nach rechts gedreht.</translation>
    </message>
    <message>
        <source>Type a name and press Enter. Only these words are sent, to huggingface.co.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Geben Sie einen Namen ein und drücken Sie die Eingabetaste. Nur diese Wörter werden an huggingface.co gesendet.</translation>
    </message>
    <message>
        <source>Type the result of the tool call.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Geben Sie das Ergebnis des Tool-Aufrufs ein.</translation>
    </message>
    <message>
        <source>Type what to search for: a model&apos;s name, or who made it.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Geben Sie ein, wonach gesucht werden soll: den Namen eines Modells oder seines Anbieters.</translation>
    </message>
    <message>
        <source>Understands images and pages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Versteht Bilder und Seiten. Schlussfolgern ist zuschaltbar.</translation>
    </message>
    <message>
        <source>Understands images, screenshots and charts, and answers questions about them.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Versteht Bilder, Bildschirmfotos und Diagramme und beantwortet Fragen dazu.</translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>app/gui/bars.py, app/gui/listen/pane.py, app/gui/viewmodels/agents.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/known_voices.py, app/gui/viewmodels/memories.py, app/gui/viewmodels/models/library.py, app/gui/viewmodels/results.py, app/gui/viewmodels/speak.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Unload</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Entladen</translation>
    </message>
    <message>
        <source>Unloading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} wird entladen.</translation>
    </message>
    <message>
        <source>Unpacking.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Wird entpackt.</translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Lösen</translation>
    </message>
    <message>
        <source>Until Grus is closed.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Bis Grus geschlossen wird.</translation>
    </message>
    <message>
        <source>Untitled</source>
        <extracomment>app/gui/chat/conversation_list.py</extracomment>
        <translation>Ohne Titel</translation>
    </message>
    <message>
        <source>Update the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Bibliothek aktualisieren</translation>
    </message>
    <message>
        <source>Updates</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Updates</translation>
    </message>
    <message>
        <source>Use</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Use a library</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Bibliothek verwenden</translation>
    </message>
    <message>
        <source>Use a prompt</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>Prompt verwenden</translation>
    </message>
    <message>
        <source>Use a prompt…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>Prompt verwenden…</translation>
    </message>
    <message>
        <source>Use default</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Standard verwenden</translation>
    </message>
    <message>
        <source>Use text in PDFs</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Text aus PDFs verwenden</translation>
    </message>
    <message>
        <source>Use the text layer of a PDF instead of recognizing its image.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Die Textebene eines PDFs verwenden, statt das Bild zu erkennen.</translation>
    </message>
    <message>
        <source>Use tools</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Werkzeuge verwenden</translation>
    </message>
    <message>
        <source>Use {model}</source>
        <extracomment>app/gui/chat/pane.py, app/gui/chat/picture_bar.py</extracomment>
        <translation>{model} verwenden</translation>
    </message>
    <message>
        <source>Using the token of the Hugging Face command line, from {file}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Das Token der Hugging-Face-Befehlszeile wird verwendet, aus {file}.</translation>
    </message>
    <message>
        <source>Variables or headers: NAME=VALUE, one in each line</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Variablen oder Header: NAME=WERT, je eine Zeile</translation>
    </message>
    <message>
        <source>Verify files</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Dateien überprüfen</translation>
    </message>
    <message>
        <source>Verifying</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Wird überprüft</translation>
    </message>
    <message>
        <source>Verifying the files of {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Die Dateien von {model} werden überprüft.</translation>
    </message>
    <message>
        <source>Vision</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Bilder verstehen</translation>
    </message>
    <message>
        <source>Voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Stimme</translation>
    </message>
    <message>
        <source>Voice recognition</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Stimmerkennung</translation>
    </message>
    <message>
        <source>Waiting</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Waiting for the model.</source>
        <extracomment>app/gui/viewmodels/chat/reply_stream.py, app/window_reply.py</extracomment>
        <translation>Wartet auf das Modell.</translation>
    </message>
    <message>
        <source>Watch a folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py</extracomment>
        <translation>Ordner überwachen</translation>
    </message>
    <message>
        <source>Watching</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>Wird überwacht</translation>
    </message>
    <message>
        <source>Waveform</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>Wellenform</translation>
    </message>
    <message>
        <source>Web page</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Webseite</translation>
    </message>
    <message>
        <source>Web page reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Webseiten-Leser</translation>
    </message>
    <message>
        <source>Web search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Websuche</translation>
    </message>
    <message>
        <source>Weights</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>What answered is not Hugging Face. A sign-in page of this network, or a wrong HF_ENDPOINT, may stand in between.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Die Antwort kam nicht von Hugging Face. Eine Anmeldeseite dieses Netzwerks oder ein falsches HF_ENDPOINT kann dazwischenstehen.</translation>
    </message>
    <message>
        <source>What appears in the folder is read, and the result is written beside its file.</source>
        <extracomment>app/gui/read/watch.py</extracomment>
        <translation>Was im Ordner erscheint, wird gelesen, und das Ergebnis wird neben die Datei geschrieben.</translation>
    </message>
    <message>
        <source>What can you help me with?</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Wobei kannst du mir helfen?</translation>
    </message>
    <message>
        <source>What it is asked leaves this machine.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Was es gefragt wird, verlässt diesen Rechner.</translation>
    </message>
    <message>
        <source>What its tools are asked leaves this machine.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Was seine Werkzeuge gefragt werden, verlässt diesen Rechner.</translation>
    </message>
    <message>
        <source>What the model should know and how it should answer.</source>
        <extracomment>app/gui/chat/panel.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Was das Modell wissen und wie es antworten soll.</translation>
    </message>
    <message>
        <source>What the voice is like: an old man, warm and slow</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Wie die Stimme klingt: ein alter Mann, warm und langsam</translation>
    </message>
    <message>
        <source>What to read</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Was gelesen werden soll</translation>
    </message>
    <message>
        <source>What tool servers have to read goes with your message as a file.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Was Werkzeugserver zu lesen haben, geht als Datei mit Ihrer Nachricht.</translation>
    </message>
    <message>
        <source>Where the browser shows an error: the address at which it ended</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Wenn der Browser einen Fehler zeigt: die Adresse, bei der er endete</translation>
    </message>
    <message>
        <source>Whole page</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Ganze Seite</translation>
    </message>
    <message>
        <source>Window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Windows does not let Grus type into this app; the text is in the clipboard. Press Ctrl+V there.</source>
        <extracomment>app/gui/keyboard/windows_paste.py</extracomment>
        <translation>Windows lässt Grus nicht in diese App schreiben; der Text liegt in der Zwischenablage. Drücken Sie dort Strg+V.</translation>
    </message>
    <message>
        <source>With headphones, you can interrupt the voice by speaking. With loudspeakers, turn this off: Grus then listens after it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Mit Kopfhörern können Sie die Stimme durch Sprechen unterbrechen. Schalten Sie dies bei Lautsprechern aus: Grus hört dann erst zu, wenn es zu Ende gesprochen hat.</translation>
    </message>
    <message>
        <source>Without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Ohne Netz und ohne Ihre Dateien, mit Grenzen für Zeit und Speicher.</translation>
    </message>
    <message>
        <source>Work offline</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Offline arbeiten</translation>
    </message>
    <message>
        <source>Works in every app. Clear the field for none.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>Funktioniert in jeder App. Leeren Sie das Feld für kein Tastenkürzel.</translation>
    </message>
    <message>
        <source>Write NAME=VALUE in each line.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Schreiben Sie in jede Zeile NAME=WERT.</translation>
    </message>
    <message>
        <source>Write a message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Nachricht schreiben</translation>
    </message>
    <message>
        <source>Write, or drop a document</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Schreiben Sie, oder ziehen Sie ein Dokument hierher</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Sie</translation>
    </message>
    <message>
        <source>You are signed in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Sie sind angemeldet.</translation>
    </message>
    <message>
        <source>You are signed out of {name} here.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Sie sind hier von {name} abgemeldet.</translation>
    </message>
    <message>
        <source>Your conversations cannot be opened: {reason}. The file is unchanged, and Grus will retry.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Ihre Unterhaltungen lassen sich nicht öffnen: {reason}. Die Datei bleibt unverändert, und Grus versucht es erneut.</translation>
    </message>
    <message>
        <source>Your conversations were saved by a newer version of Grus. Update Grus to open them. The file is unchanged.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Ihre Unterhaltungen wurden mit einer neueren Version von Grus gespeichert. Aktualisieren Sie Grus, um sie zu öffnen. Die Datei bleibt unverändert.</translation>
    </message>
    <message>
        <source>Your last changes are not saved yet. Close the window again to discard them.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Ihre letzten Änderungen sind noch nicht gespeichert. Schließen Sie das Fenster noch einmal, um sie zu verwerfen.</translation>
    </message>
    <message>
        <source>Your message was sent.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Ihre Nachricht wurde gesendet.</translation>
    </message>
    <message>
        <source>Your settings could not be read. They were saved as {file}, and Grus started with default settings.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Ihre Einstellungen waren nicht lesbar. Sie wurden als {file} gespeichert, und Grus hat mit Standardeinstellungen begonnen.</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <source>about {n} tokens/s</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>etwa {n} Token/s</translation>
    </message>
    <message>
        <source>about {size}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>etwa {size}</translation>
    </message>
    <message>
        <source>another program is using it</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>ein anderes Programm benutzt die Datei</translation>
    </message>
    <message>
        <source>bubblewrap does not run on this machine: {reason}</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>bubblewrap läuft auf diesem Rechner nicht: {reason}</translation>
    </message>
    <message>
        <source>chapter {n} of {total}</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Kapitel {n} von {total}</translation>
    </message>
    <message>
        <source>espeak-ng failed ({reason}).</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>espeak-ng ist fehlgeschlagen ({reason}).</translation>
    </message>
    <message>
        <source>fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>schnell</translation>
    </message>
    <message>
        <source>first token after {time}</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>erstes Token nach {time}</translation>
    </message>
    <message>
        <source>fits</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>passt</translation>
    </message>
    <message>
        <source>from disk</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>vom Datenträger</translation>
    </message>
    <message>
        <source>gated</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Zugang beschränkt</translation>
    </message>
    <message>
        <source>give Grus a token of your account: `grus token set`, Settings in the window, or HF_TOKEN</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>geben Sie Grus ein Token Ihres Kontos: in den Einstellungen des Fensters, mit `grus token set` oder HF_TOKEN</translation>
    </message>
    <message>
        <source>high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>hoch</translation>
    </message>
    <message numerus="yes">
        <source>in {n} segments</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>in {n} Abschnitt</numerusform>
            <numerusform>in {n} Abschnitten</numerusform>
        </translation>
    </message>
    <message>
        <source>installed</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>installiert</translation>
    </message>
    <message>
        <source>loaded</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>geladen</translation>
    </message>
    <message>
        <source>low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>tief</translation>
    </message>
    <message>
        <source>macOS does not let Grus type into other apps yet: allow it in System Settings, Privacy &amp; Security, Accessibility. The text is in the clipboard.</source>
        <extracomment>app/gui/keyboard/mac_paste.py</extracomment>
        <translation>macOS lässt Grus noch nicht in andere Apps schreiben: Erlauben Sie es in den Systemeinstellungen unter „Datenschutz &amp; Sicherheit“, „Bedienungshilfen“. Der Text liegt in der Zwischenablage.</translation>
    </message>
    <message>
        <source>moderate</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>mittel</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>recommended</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>empfohlen</translation>
    </message>
    <message>
        <source>slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>langsam</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>das Laufwerk ist voll</translation>
    </message>
    <message>
        <source>the disk reports an error</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>das Laufwerk meldet einen Fehler</translation>
    </message>
    <message>
        <source>the file cannot be opened</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>die Datei lässt sich nicht öffnen</translation>
    </message>
    <message>
        <source>the file is read-only</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>die Datei ist schreibgeschützt</translation>
    </message>
    <message>
        <source>there are too many unsaved changes</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>es gibt zu viele ungespeicherte Änderungen</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>der Arbeitsspeicher reicht nicht aus</translation>
    </message>
    <message>
        <source>tight</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>knapp</translation>
    </message>
    <message>
        <source>too large</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>vLLM, SGLang, llama-server, LM Studio, Ollama or another Grus. What you send to its models leaves this machine.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>vLLM, SGLang, llama-server, LM Studio, Ollama oder ein anderes Grus. Was Sie seinen Modellen senden, verlässt diesen Rechner.</translation>
    </message>
    <message>
        <source>very fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>sehr schnell</translation>
    </message>
    <message>
        <source>very high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>sehr hoch</translation>
    </message>
    <message>
        <source>very low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>sehr tief</translation>
    </message>
    <message>
        <source>very slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>sehr langsam</translation>
    </message>
    <message>
        <source>{about} Details: {error}</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{about} Einzelheiten: {error}</translation>
    </message>
    <message>
        <source>{app}, {path}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{app}, {path}</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <source>{done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>{done} von {total} Dateien</translation>
    </message>
    <message>
        <source>{done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{done} von {total} Seiten</translation>
    </message>
    <message>
        <source>{file} cannot be read ({why}). Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} kann nicht gelesen werden ({why}). Berichtigen Sie die Datei zuerst; nichts wurde geändert.</translation>
    </message>
    <message>
        <source>{file} cannot be read, so no voice was changed. Move it away to begin anew.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} ist nicht lesbar, daher wurde keine Stimme geändert. Verschieben Sie die Datei, um neu zu beginnen.</translation>
    </message>
    <message>
        <source>{file} cannot be replaced: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{file} kann nicht ersetzt werden: {reason}.</translation>
    </message>
    <message>
        <source>{file} could not be written: {reason}.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} konnte nicht geschrieben werden: {reason}.</translation>
    </message>
    <message>
        <source>{file} holds no settings. Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} enthält keine Einstellungen. Berichtigen Sie die Datei zuerst; nichts wurde geändert.</translation>
    </message>
    <message>
        <source>{file} holds {name}, which leads out of its folder. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} enthält {name}, was aus dem Ordner hinausführt. Die Datei wird nicht importiert.</translation>
    </message>
    <message>
        <source>{file} is being changed by another program. Try again in a moment.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} wird gerade von einem anderen Programm geändert. Versuchen Sie es gleich noch einmal.</translation>
    </message>
    <message>
        <source>{file} is damaged: it cannot be unpacked as a whole.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} ist beschädigt: Die Datei lässt sich nicht ganz entpacken.</translation>
    </message>
    <message>
        <source>{file} is encrypted. Unpack it, and import what is in it.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} ist verschlüsselt. Entpacken Sie die Datei, und importieren Sie den Inhalt.</translation>
    </message>
    <message>
        <source>{file} is no export of ChatGPT, Claude, LM Studio, Jan or Open WebUI that can be read.</source>
        <extracomment>app/runtime/imports/exports.py</extracomment>
        <translation>{file} ist kein lesbarer Export von ChatGPT, Claude, LM Studio, Jan oder Open WebUI.</translation>
    </message>
    <message>
        <source>{file} is no text in UTF-8. Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} ist kein Text in UTF-8. Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>{file} is not there any more.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>{file} ist nicht mehr vorhanden.</translation>
    </message>
    <message>
        <source>{file} is written in a way that Grus cannot change safely ({why}). Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} ist so geschrieben, dass Grus es nicht sicher ändern kann ({why}). Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>{file} unpacks to more than an export can be. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} wird entpackt größer, als ein Export sein kann. Die Datei wird nicht importiert.</translation>
    </message>
    <message>
        <source>{file}: {reason}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{file}: {reason}.</translation>
    </message>
    <message>
        <source>{folder} contains no model: no config.json with weights, and no GGUF file.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{folder} enthält kein Modell: keine config.json mit Gewichten und keine GGUF-Datei.</translation>
    </message>
    <message>
        <source>{folder} holds an unfinished audiobook of another text, voice or settings. Delete it, or choose another name.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>{folder} enthält ein unfertiges Hörbuch mit anderem Text, anderer Stimme oder anderen Einstellungen. Löschen Sie den Ordner, oder wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <source>{free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{free} sind frei.</translation>
    </message>
    <message>
        <source>{given} could not be read: {reason}.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{given} konnte nicht gelesen werden: {reason}.</translation>
    </message>
    <message>
        <source>{how_far}, {rate}/s, {left} left</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{how_far}, {rate}/s, noch {left}</translation>
    </message>
    <message>
        <source>{keys} cannot be used. Use a letter, a digit, Space or F1 to F12, with Ctrl, Alt or Meta.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} kann nicht verwendet werden. Verwenden Sie einen Buchstaben, eine Ziffer, die Leertaste oder F1 bis F12 mit Strg, Alt oder Meta.</translation>
    </message>
    <message>
        <source>{keys} cannot be used: {error}. Choose other keys.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} kann nicht verwendet werden: {error}. Wählen Sie andere Tasten.</translation>
    </message>
    <message>
        <source>{kinds}. Search for {name} to download one of these.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{kinds}. Suchen Sie nach {name}, um eines davon herunterzuladen.</translation>
    </message>
    <message>
        <source>{model} answers without the images in this conversation.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} antwortet ohne die Bilder in dieser Unterhaltung.</translation>
    </message>
    <message>
        <source>{model} clones no voices from here.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} klont von hier aus keine Stimmen.</translation>
    </message>
    <message>
        <source>{model} does not hear sound.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} hört keinen Ton.</translation>
    </message>
    <message>
        <source>{model} does not know the task {task}: the page is read as text. PaddleOCR-VL 1.5 knows every task.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} kennt die Aufgabe {task} nicht: Die Seite wird als Text gelesen. PaddleOCR-VL 1.5 kennt alle Aufgaben.</translation>
    </message>
    <message>
        <source>{model} does not speak.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} spricht nicht.</translation>
    </message>
    <message>
        <source>{model} does not speak. Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus and Spark-TTS models do.</source>
        <extracomment>engine/pipelines/speaking/speech_models.py</extracomment>
        <translation>{model} kann nicht sprechen. Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus und Spark-TTS können es.</translation>
    </message>
    <message>
        <source>{model} does not support images.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} unterstützt keine Bilder.</translation>
    </message>
    <message>
        <source>{model} does not support tool calls. It answers without tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{model} unterstützt keine Werkzeugaufrufe. Es antwortet ohne Werkzeuge.</translation>
    </message>
    <message>
        <source>{model} does not write whole pages: its regions are read.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} schreibt keine ganzen Seiten: Die Bereiche der Seite werden gelesen.</translation>
    </message>
    <message>
        <source>{model} has no voices: its folder `voices` is missing. Download it again.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>{model} hat keine Stimmen: Der Ordner `voices` fehlt. Laden Sie das Modell noch einmal herunter.</translation>
    </message>
    <message>
        <source>{model} is installed. Its checksums are correct.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{model} ist installiert. Die Prüfsummen stimmen.</translation>
    </message>
    <message>
        <source>{model} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.</source>
        <extracomment>engine/pipelines/reading/layout_model.py</extracomment>
        <translation>{model} ist kein Layout-Modell. PaddlePaddle/PP-DocLayoutV2 ist eines.</translation>
    </message>
    <message>
        <source>{model} is not the id of a repository.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{model} ist keine gültige Repository-ID.</translation>
    </message>
    <message>
        <source>{model} is ready.</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} ist bereit.</translation>
    </message>
    <message>
        <source>{model} is ready. Write your first message.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} ist bereit. Schreiben Sie Ihre erste Nachricht.</translation>
    </message>
    <message>
        <source>{model} reads pages line by line and talks about no images. Read them with grus read.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} liest Seiten Zeile für Zeile und spricht nicht über Bilder. Öffnen Sie sie unter „Lesen“.</translation>
    </message>
    <message>
        <source>{model} reads text only and does not see images.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} verarbeitet nur Text, keine Bilder.</translation>
    </message>
    <message>
        <source>{model} reads text, not images. Choose a vision model.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>{model} liest Text, keine Bilder. Wählen Sie ein Modell, das Bilder versteht.</translation>
    </message>
    <message>
        <source>{model} receives the text of the image.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} erhält den Text des Bildes.</translation>
    </message>
    <message>
        <source>{model} runs on another server, which gives no times of words.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} läuft auf einem anderen Server, der keine Wortzeiten liefert.</translation>
    </message>
    <message>
        <source>{model} transcribes {own}, not {language}. Choose a model for that language.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} transkribiert {own}, nicht {language}. Wählen Sie ein Modell für diese Sprache.</translation>
    </message>
    <message>
        <source>{model} was deleted. {size} will be freed in 30 seconds.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} wurde gelöscht. {size} werden in 30 Sekunden frei.</translation>
    </message>
    <message>
        <source>{model} was removed from the list. Its files were not deleted.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} wurde aus der Liste entfernt. Die Dateien wurden nicht gelöscht.</translation>
    </message>
    <message>
        <source>{names}: unsupported format. Supported: WAV, FLAC, MP3, OGG, Opus, AIFF, AU and CAF.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>{names}: nicht unterstütztes Format. Unterstützt werden WAV, FLAC, MP3, OGG, Opus, AIFF, AU und CAF.</translation>
    </message>
    <message>
        <source>{name} (optional)</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>{name} (optional)</translation>
    </message>
    <message>
        <source>{name} answered something that is not OpenAI&apos;s API. Is the address right?</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} hat etwas geantwortet, das nicht zur API von OpenAI gehört. Stimmt die Adresse?</translation>
    </message>
    <message>
        <source>{name} answered with status {status}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} hat mit Status {status} geantwortet.</translation>
    </message>
    <message>
        <source>{name} answered with status {status}: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} hat mit Status {status} geantwortet: {error}</translation>
    </message>
    <message>
        <source>{name} answers from another address. Add the address that it leads to.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} antwortet von einer anderen Adresse. Fügen Sie die Adresse hinzu, zu der sie führt.</translation>
    </message>
    <message>
        <source>{name} answers: what you send leaves this machine.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>{name} antwortet: Was Sie senden, verlässt diesen Rechner.</translation>
    </message>
    <message>
        <source>{name} asks you to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} bittet Sie, sich anzumelden.</translation>
    </message>
    <message>
        <source>{name} cannot be opened. {why}</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} kann nicht geöffnet werden. {why}</translation>
    </message>
    <message>
        <source>{name} cannot be opened: it is damaged or password-protected.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} lässt sich nicht öffnen: Die Datei ist beschädigt oder passwortgeschützt.</translation>
    </message>
    <message>
        <source>{name} cannot be opened: the file is damaged.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} lässt sich nicht öffnen: Die Datei ist beschädigt.</translation>
    </message>
    <message>
        <source>{name} cannot be reached: nothing answers at {host}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} ist nicht erreichbar: Unter {host} antwortet nichts.</translation>
    </message>
    <message>
        <source>{name} contains no text that can be spoken.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} enthält keinen Text, der gesprochen werden kann.</translation>
    </message>
    <message>
        <source>{name} contains no text.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} enthält keinen Text.</translation>
    </message>
    <message>
        <source>{name} contains no text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/speak.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} enthält keinen Text. Öffnen Sie die Datei zuerst unter „Lesen“.</translation>
    </message>
    <message>
        <source>{name} contains scanned pages without text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} enthält gescannte Seiten ohne Text. Öffnen Sie die Datei zuerst unter „Lesen“.</translation>
    </message>
    <message>
        <source>{name} could not be downloaded: {reason}. What arrived is kept.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} konnte nicht heruntergeladen werden: {reason}. Was angekommen ist, bleibt erhalten.</translation>
    </message>
    <message>
        <source>{name} could not be read as sound ({reason}). {formats} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} konnte nicht als Ton gelesen werden ({reason}). Möglich sind {formats}.</translation>
    </message>
    <message>
        <source>{name} could not be saved: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} konnte nicht gespeichert werden: {reason}.</translation>
    </message>
    <message>
        <source>{name} does not know voices again. WavLM models for x-vectors do.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>{name} erkennt keine Stimmen wieder. WavLM-Modelle für X-Vektoren können das.</translation>
    </message>
    <message>
        <source>{name} does not listen. Choose a model that does, openai/whisper-small for example.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{name} kann keine Sprache erkennen. Wählen Sie ein Modell, das es kann, zum Beispiel openai/whisper-small.</translation>
    </message>
    <message>
        <source>{name} does not take this: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} nimmt dies nicht an: {error}</translation>
    </message>
    <message>
        <source>{name} does not tell speakers apart. Sortformer models do.</source>
        <extracomment>engine/pipelines/listening/speakers.py</extracomment>
        <translation>{name} unterscheidet keine Sprecher. Sortformer-Modelle tun es.</translation>
    </message>
    <message>
        <source>{name} ended the connection before the reply was complete.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} hat die Verbindung beendet, bevor die Antwort vollständig war.</translation>
    </message>
    <message>
        <source>{name} ended the reply: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} hat die Antwort abgebrochen: {error}</translation>
    </message>
    <message>
        <source>{name} has no model {model}, or does not do this.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} hat kein Modell {model}, oder es kann dies nicht.</translation>
    </message>
    <message>
        <source>{name} has written nothing.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} hat nichts geschrieben.</translation>
    </message>
    <message>
        <source>{name} has {own} samples a second; {least} to {most} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} hat {own} Abtastwerte pro Sekunde; möglich sind {least} bis {most}.</translation>
    </message>
    <message>
        <source>{name} holds no sound.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} enthält keinen Ton.</translation>
    </message>
    <message>
        <source>{name} holds samples that are no numbers. The file is damaged.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} enthält ungültige Abtastwerte. Die Datei ist beschädigt.</translation>
    </message>
    <message>
        <source>{name} ignored response_format: its reply is not JSON.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} hat response_format ignoriert: Die Antwort ist kein JSON.</translation>
    </message>
    <message>
        <source>{name} ignored response_format: {where} of its reply does not fit the schema.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} hat response_format ignoriert: {where} der Antwort passt nicht zum Schema.</translation>
    </message>
    <message>
        <source>{name} ignored tool_choice: its reply calls no tool.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} hat tool_choice ignoriert: Die Antwort ruft kein Werkzeug auf.</translation>
    </message>
    <message>
        <source>{name} is busy, or its limit is reached. Try again later.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} ist ausgelastet, oder sein Limit ist erreicht. Versuchen Sie es später erneut.</translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} ist leer.</translation>
    </message>
    <message>
        <source>{name} is larger than 512 MB. Choose a smaller file.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} ist größer als 512 MB. Wählen Sie eine kleinere Datei.</translation>
    </message>
    <message>
        <source>{name} is longer than {longest}. Split it first.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} ist länger als {longest}. Teilen Sie die Datei zuerst.</translation>
    </message>
    <message>
        <source>{name} is no name for a voice: letters, digits, spaces, dots and dashes, 64 at most.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>{name} ist kein Name für eine Stimme: Buchstaben, Ziffern, Leerzeichen, Punkte und Bindestriche, höchstens 64.</translation>
    </message>
    <message>
        <source>{name} is no name of a speaker: up to 40 letters, digits, spaces and dashes.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py</extracomment>
        <translation>{name} ist kein Name für eine Sprecherin oder einen Sprecher: höchstens 40 Buchstaben, Ziffern, Leerzeichen und Striche.</translation>
    </message>
    <message>
        <source>{name} is not a book that can be read. Choose one of: {kinds}.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} ist kein Buch, das gelesen werden kann. Wählen Sie eines von: {kinds}.</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <extracomment>engine/media/sound.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} ist keine Datei.</translation>
    </message>
    <message>
        <source>{name} is not a file. Drop files, not folders.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} ist keine Datei. Legen Sie Dateien ab, keine Ordner.</translation>
    </message>
    <message>
        <source>{name} is not supported. Attach text, PDFs, images or audio.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} wird nicht unterstützt. Hängen Sie Text, PDFs, Bilder oder Audio an.</translation>
    </message>
    <message>
        <source>{name} is not supported. Choose a {endings} file.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} wird nicht unterstützt. Wählen Sie eine Datei im Format {endings}.</translation>
    </message>
    <message>
        <source>{name} is not the file that was announced. It was deleted.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} ist nicht die angekündigte Datei. Sie wurde gelöscht.</translation>
    </message>
    <message>
        <source>{name} is password-protected. Save a copy without a password.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} ist passwortgeschützt. Speichern Sie eine Kopie ohne Passwort.</translation>
    </message>
    <message>
        <source>{name} is set</source>
        <extracomment>engine/hub/offline.py</extracomment>
        <translation>{name} ist gesetzt</translation>
    </message>
    <message>
        <source>{name} lists no models. Name one by hand.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} listet keine Modelle auf. Geben Sie eines von Hand an.</translation>
    </message>
    <message>
        <source>{name} refuses the key. Add it again, with the right one.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} lehnt den Schlüssel ab. Fügen Sie den Server mit dem richtigen erneut hinzu.</translation>
    </message>
    <message>
        <source>{name} sent nothing for {seconds} seconds.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} hat {seconds} Sekunden lang nichts gesendet.</translation>
    </message>
    <message>
        <source>{name} wants a key. Add it again, with its key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} verlangt einen Schlüssel. Fügen Sie den Server mit seinem Schlüssel erneut hinzu.</translation>
    </message>
    <message numerus="yes">
        <source>{name} was added, with {n} models.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>
            <numerusform>{name} wurde mit {n} Modell hinzugefügt.</numerusform>
            <numerusform>{name} wurde mit {n} Modellen hinzugefügt.</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} was not asked, because {why}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} wurde nicht gefragt: {why}.</translation>
    </message>
    <message>
        <source>{name} writes no text. Give it as the layout, and a vision model as the model.</source>
        <extracomment>engine/pipelines/reading/text_lines.py</extracomment>
        <translation>{name} schreibt keinen Text. Wählen Sie ein Modell, das Bilder versteht.</translation>
    </message>
    <message>
        <source>{name}: {level}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>{name}: {level}</translation>
    </message>
    <message>
        <source>{now} now, at most {most} in the last two minutes</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>jetzt {now}, höchstens {most} in den letzten zwei Minuten</translation>
    </message>
    <message numerus="yes">
        <source>{n} active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>
            <numerusform>{n} aktive Anfrage.</numerusform>
            <numerusform>{n} aktive Anfragen.</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} billion</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} Milliarden</translation>
    </message>
    <message numerus="yes">
        <source>{n} chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>
            <numerusform>{n} Kapitel</numerusform>
            <numerusform>{n} Kapitel</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conversations imported.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} Unterhaltung importiert.</numerusform>
            <numerusform>{n} Unterhaltungen importiert.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>{n} Dokument</numerusform>
            <numerusform>{n} Dokumente</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} Dokument konnte nicht gelesen werden</numerusform>
            <numerusform>{n} Dokumente konnten nicht gelesen werden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents saved in {folder}.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>
            <numerusform>{n} Dokument in {folder} gespeichert.</numerusform>
            <numerusform>{n} Dokumente in {folder} gespeichert.</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} downloads per month</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} Downloads pro Monat</translation>
    </message>
    <message numerus="yes">
        <source>{n} files</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} Datei</numerusform>
            <numerusform>{n} Dateien</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} files read</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} Datei gelesen</numerusform>
            <numerusform>{n} Dateien gelesen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} libraries</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} Bibliothek</numerusform>
            <numerusform>{n} Bibliotheken</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} million</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} Millionen</translation>
    </message>
    <message numerus="yes">
        <source>{n} not read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py, app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} nicht gelesen</numerusform>
            <numerusform>{n} nicht gelesen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>
            <numerusform>{n} Seite</numerusform>
            <numerusform>{n} Seiten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages have no text, and no model is here that reads them.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} Seite enthält keinen Text, und kein Modell ist da, das sie liest.</numerusform>
            <numerusform>{n} Seiten enthalten keinen Text, und kein Modell ist da, das sie liest.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} passages left to embed</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>Noch {n} Textstelle ohne Vektor</numerusform>
            <numerusform>Noch {n} Textstellen ohne Vektor</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} places replaced</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>{n} Stelle ersetzt</numerusform>
            <numerusform>{n} Stellen ersetzt</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} requests are waiting already. Try again later.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>{n} Anfragen warten bereits. Versuchen Sie es später erneut.</translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>
            <numerusform>{n} Token</numerusform>
            <numerusform>{n} Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} tools</source>
        <extracomment>app/gui/settings/tools.py, app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} Werkzeug</numerusform>
            <numerusform>{n} Werkzeuge</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} were there already.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} war schon da.</numerusform>
            <numerusform>{n} waren schon da.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} words</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>
            <numerusform>{n} Wort</numerusform>
            <numerusform>{n} Wörter</numerusform>
        </translation>
    </message>
    <message>
        <source>{one} and {other}</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>{one} und {other}</translation>
    </message>
    <message>
        <source>{origin} is not a valid origin. Enter one like https://app.example, or * for all.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>{origin} ist kein gültiger Ursprung. Geben Sie zum Beispiel https://app.example ein, oder * für alle.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <extracomment>engine/media/documents.py, engine/pipelines/reading/watching.py, engine/pipelines/speaking/pronunciation.py, app/runtime/remote/chat.py</extracomment>
        <translation>{path} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>{path} lässt sich nicht schreiben: {reason}.</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}.</source>
        <extracomment>engine/media/audiobook_file.py, engine/media/recordings.py, engine/media/sound.py, engine/pipelines/speaking/passage_store.py, engine/pipelines/speaking/spoken_epub.py</extracomment>
        <translation>{path} konnte nicht geschrieben werden: {reason}.</translation>
    </message>
    <message>
        <source>{path} is a folder.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} ist ein Ordner.</translation>
    </message>
    <message>
        <source>{path} is larger than the memory that is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} ist größer als der freie Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>{path} is no text in UTF-8.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{path} ist kein Text in UTF-8.</translation>
    </message>
    <message>
        <source>{path} is not the index of a library.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>{path} ist nicht der Index einer Bibliothek.</translation>
    </message>
    <message>
        <source>{program} (not installed)</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} (nicht installiert)</translation>
    </message>
    <message>
        <source>{program} has its earlier settings again.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} hat wieder die früheren Einstellungen.</translation>
    </message>
    <message>
        <source>{program} is disconnected. What you changed in {file} since stays.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} ist getrennt. Was Sie seither in {file} geändert haben, bleibt.</translation>
    </message>
    <message>
        <source>{program} is not installed: there is no command {command}. Install it first: {how}</source>
        <extracomment>app/agents/programs.py</extracomment>
        <translation>{program} ist nicht installiert: Den Befehl {command} gibt es nicht. Installieren Sie es zuerst: {how}</translation>
    </message>
    <message>
        <source>{program} uses this server now.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} verwendet jetzt diesen Server.</translation>
    </message>
    <message>
        <source>{program} uses this server now. Enter the key in its settings, too.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} verwendet jetzt diesen Server. Geben Sie auch in seinen Einstellungen den Schlüssel ein.</translation>
    </message>
    <message>
        <source>{program} uses this server now. Its earlier settings are kept in {file}.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} verwendet jetzt diesen Server. Die früheren Einstellungen liegen in {file}.</translation>
    </message>
    <message>
        <source>{program} was not connected by Grus: there is nothing to take back.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{program} wurde nicht von Grus verbunden: Es gibt nichts rückgängig zu machen.</translation>
    </message>
    <message>
        <source>{rate} tokens/s</source>
        <extracomment>app/gui/bars.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{rate} Token/s</translation>
    </message>
    <message>
        <source>{reason}. Grus stays offline until it is restarted without it.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{reason}. Grus bleibt offline, bis es ohne dies neu gestartet wird.</translation>
    </message>
    <message>
        <source>{repo} cannot be saved{where}: {reason}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} lässt sich nicht speichern{where}: {reason}.</translation>
    </message>
    <message>
        <source>{repo} could not be downloaded: {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} konnte nicht heruntergeladen werden: {reason}</translation>
    </message>
    <message>
        <source>{repo} has a file that is larger than this disk or account may hold{where}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} hat eine Datei, die größer ist, als dieses Laufwerk oder Konto erlaubt{where}.</translation>
    </message>
    <message>
        <source>{repo} has no revision {revision}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} hat keine Revision {revision}.</translation>
    </message>
    <message>
        <source>{repo} holds no model files.</source>
        <extracomment>engine/hub/download.py, engine/hub/searching.py</extracomment>
        <translation>{repo} enthält keine Modelldateien.</translation>
    </message>
    <message>
        <source>{repo} holds no tokenizer, and its name, which does not end in -GGUF, tells no other repository. Put a tokenizer.json beside the file.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} enthält keinen Tokenizer, und der Name, der nicht auf -GGUF endet, nennt kein anderes Repository. Legen Sie eine tokenizer.json neben die Datei.</translation>
    </message>
    <message>
        <source>{repo} is gated, and your token does not open it. Accept its terms on {site}/{repo} with the same account, and wait until its makers have let you in.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Der Zugang zu {repo} ist beschränkt, und Ihr Token öffnet ihn nicht. Stimmen Sie auf {site}/{repo} mit demselben Konto den Bedingungen zu, und warten Sie, bis der Anbieter Sie zulässt.</translation>
    </message>
    <message>
        <source>{repo} is gated. Accept its terms on {site}/{repo}, then {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Der Zugang zu {repo} ist beschränkt. Stimmen Sie auf {site}/{repo} den Bedingungen zu, dann {advice}.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and Hugging Face cannot be reached. Check the network.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} ist nicht auf diesem Gerät, und Hugging Face ist nicht erreichbar. Prüfen Sie das Netzwerk.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and {why}, so it cannot be downloaded.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} ist nicht auf diesem Gerät und kann nicht heruntergeladen werden: {why}.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine, and {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} ist nicht auf diesem Gerät. {reason}</translation>
    </message>
    <message>
        <source>{repo} is not the id of a repository.</source>
        <extracomment>engine/hub/client.py, engine/hub/searching.py</extracomment>
        <translation>{repo} ist keine gültige Repository-ID.</translation>
    </message>
    <message>
        <source>{repo} needs {needed}, but {there} has only {free} left.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} braucht {needed}, aber in {there} sind nur noch {free} frei.</translation>
    </message>
    <message>
        <source>{share} %</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>{share} %</translation>
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
        <translation>{size} für Modelle, {whole} für Grus insgesamt</translation>
    </message>
    <message>
        <source>{size} in memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} im Speicher</translation>
    </message>
    <message>
        <source>{size} of experts have no room in memory and stay in the file. Replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Für {size} Experten ist im Speicher kein Platz, sie bleiben in der Datei. Antworten sind so langsam wie der Datenträger.</translation>
    </message>
    <message>
        <source>{size} of memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} Speicher</translation>
    </message>
    <message>
        <source>{speed} here</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{speed} auf diesem Gerät</translation>
    </message>
    <message>
        <source>{time} h</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} h</translation>
    </message>
    <message>
        <source>{time} left</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>noch {time}</translation>
    </message>
    <message>
        <source>{time} min</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} min</translation>
    </message>
    <message>
        <source>{time} s</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} s</translation>
    </message>
    <message>
        <source>{time} total</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{time} gesamt</translation>
    </message>
    <message>
        <source>{title} (copy)</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>{title} (Kopie)</translation>
    </message>
    <message>
        <source>{title} has not been read yet.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{title} wurde noch nicht gelesen.</translation>
    </message>
    <message>
        <source>{title} must be between {low} and {high}.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>{title} muss zwischen {low} und {high} liegen.</translation>
    </message>
    <message>
        <source>{tokens} tokens do not fit into the memory for sequences ({limit} MiB). Shorten the prompt, raise the memory limit, or quantize the cache.</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>{tokens} Token passen nicht in den Speicher für Sequenzen ({limit} MiB). Kürzen Sie den Prompt, erhöhen Sie die Speichergrenze, oder quantisieren Sie den Cache.</translation>
    </message>
    <message>
        <source>{tool} failed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} ist fehlgeschlagen.</translation>
    </message>
    <message>
        <source>{tool} is asked over the network: {question}</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{tool} wird über das Netz gefragt: {question}</translation>
    </message>
    <message>
        <source>{tool} is running.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} läuft.</translation>
    </message>
    <message>
        <source>{tool} was not allowed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} wurde nicht erlaubt.</translation>
    </message>
    <message>
        <source>{tool} was stopped.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} wurde gestoppt.</translation>
    </message>
    <message>
        <source>{tool} was used.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} wurde verwendet.</translation>
    </message>
    <message>
        <source>{variable} is set and takes precedence over a token stored here.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{variable} ist gesetzt und hat Vorrang vor einem hier gespeicherten Token.</translation>
    </message>
    <message>
        <source>{weights} weights, {talk} KV cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{weights} Gewichte, {talk} KV-Cache</translation>
    </message>
    <message>
        <source>{words} is too much. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>{words} ist zu viel. {how}</translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/results.py</extracomment>
        <translation>„{title}“ wurde gelöscht.</translation>
    </message>
    <message>
        <source>“{title}” was removed from the list. The file was not deleted.</source>
        <extracomment>app/gui/viewmodels/results.py</extracomment>
        <translation>„{title}“ wurde aus der Liste entfernt. Die Datei wurde nicht gelöscht.</translation>
    </message>
    <message>
        <source>“{title}” was removed. The folder and its documents were not changed.</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>„{title}“ wurde entfernt. Der Ordner und seine Dokumente wurden nicht verändert.</translation>
    </message>
</context>
</TS>
