<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr" sourcelanguage="en">
<context>
    <name>grus</name>
    <message>
        <source>0 always picks the most likely token. Higher values give more varied replies.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>0 choisit toujours le token le plus probable. Des valeurs plus élevées donnent des réponses plus variées.</translation>
    </message>
    <message>
        <source>2 minutes ago</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>il y a 2 minutes</translation>
    </message>
    <message>
        <source>3 to 15 seconds of one voice are best.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>L’idéal&#xa0;: 3 à 15 secondes d’une seule voix.</translation>
    </message>
    <message>
        <source>A Pocket-TTS model speaks one language, which is not chosen: leave it at automatic.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Un modèle Pocket-TTS parle une seule langue, qui ne se choisit pas : laissez-la sur automatique.</translation>
    </message>
    <message>
        <source>A cloned voice keeps the pitch and pace of its recording.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Une voix clonée garde la hauteur et le débit de son enregistrement.</translation>
    </message>
    <message>
        <source>A fact has at least one word.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>Un fait a au moins un mot.</translation>
    </message>
    <message>
        <source>A fact has at most {most} characters, and this one has {n}.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>Un fait a au plus {most} caractères, et celui-ci en a {n}.</translation>
    </message>
    <message>
        <source>A file</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Un fichier</translation>
    </message>
    <message>
        <source>A key is one word of letters, digits and signs.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Une clé est un seul mot de lettres, de chiffres et de signes.</translation>
    </message>
    <message>
        <source>A line for each word: word = how it is said. Phonemes between slashes are for Kokoro.</source>
        <extracomment>app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Une ligne par mot : mot = sa prononciation. Les phonèmes entre barres obliques sont pour Kokoro.</translation>
    </message>
    <message>
        <source>A model may call these in conversations where you switch them on. You are asked before each call.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Un modèle peut les appeler dans les conversations où vous les activez. Vous êtes consulté avant chaque appel.</translation>
    </message>
    <message>
        <source>A model that calls tools may propose a fact. You are asked before it is kept, and can edit or delete it here.</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Un modèle qui appelle des outils peut proposer un fait. La question vous est posée avant qu’il soit gardé, et vous pouvez le modifier ou le supprimer ici.</translation>
    </message>
    <message>
        <source>A new version is downloaded over https only.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Les nouvelles versions ne sont téléchargées que par https.</translation>
    </message>
    <message>
        <source>A part of the file is missing: {name}.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Une partie du fichier est manquante : {name}.</translation>
    </message>
    <message>
        <source>A prompt goes into the message field, where you can change it before you send it.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Un prompt va dans le champ du message, où vous pouvez le modifier avant de l’envoyer.</translation>
    </message>
    <message>
        <source>A recording must be one row of finite samples.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Un enregistrement doit être une seule suite d’échantillons finis.</translation>
    </message>
    <message>
        <source>A reply is being written in another conversation. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Une réponse est en cours d’écriture dans une autre conversation. Attendez-la, ou arrêtez-la.</translation>
    </message>
    <message>
        <source>A reply is being written. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>Une réponse est en cours. Attendez-la ou arrêtez-la.</translation>
    </message>
    <message>
        <source>A saved voice is not sent to a server elsewhere.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>Une voix enregistrée n’est pas envoyée à un serveur distant.</translation>
    </message>
    <message>
        <source>A server&apos;s address holds no password, no question mark and no hash. The key is asked for.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>L’adresse d’un serveur ne contient ni mot de passe, ni point d’interrogation, ni dièse. La clé est demandée à part.</translation>
    </message>
    <message>
        <source>A server&apos;s address is like http://192.168.1.5:8000 or https://example.org/v1.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>L’adresse d’un serveur ressemble à http://192.168.1.5:8000 ou https://example.org/v1.</translation>
    </message>
    <message>
        <source>A server&apos;s name has up to 40 letters, digits, dots and dashes: {name} does not fit.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Le nom d’un serveur a jusqu’à 40 lettres, chiffres, points et tirets : {name} ne convient pas.</translation>
    </message>
    <message>
        <source>A step of the engine failed: {kind}: {error}</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>Une étape du moteur a échoué&#xa0;: {kind}&#xa0;: {error}</translation>
    </message>
    <message>
        <source>A system library for sound is missing ({error}). On Debian and Ubuntu: sudo apt-get install libpulse0</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Une bibliothèque système pour le son est absente ({error}). Sous Debian et Ubuntu&#xa0;: sudo apt-get install libpulse0</translation>
    </message>
    <message>
        <source>A token is one word of letters and digits, such as hf_... on your Hugging Face page.</source>
        <extracomment>engine/hub/token.py</extracomment>
        <translation>Un jeton est un mot de lettres et de chiffres, comme hf_... sur votre page Hugging Face.</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring, but the keyring cannot be opened.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Un jeton est stocké dans le trousseau du système, mais le trousseau ne s’ouvre pas.</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Un jeton est stocké dans le trousseau du système.</translation>
    </message>
    <message>
        <source>A token is stored in {file}, which only you can read. No system keyring is available.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Un jeton est stocké dans {file}, que vous seul pouvez lire. Aucun trousseau système n’est disponible.</translation>
    </message>
    <message>
        <source>A voice needs a name and a recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Une voix a besoin d’un nom et d’un enregistrement.</translation>
    </message>
    <message>
        <source>Above 1, tokens that already occurred become less likely.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Au-dessus de 1, les tokens déjà apparus deviennent moins probables.</translation>
    </message>
    <message>
        <source>Access</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Accès</translation>
    </message>
    <message>
        <source>Accurate answers and reasoning, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Réponses précises et raisonnement, pour les ordinateurs avec 16 Go.</translation>
    </message>
    <message>
        <source>Accurate answers at the speed of a small model: 4 of 26 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Réponses précises à la vitesse d’un petit modèle&#xa0;: 4 milliards de paramètres sur 26 sont actifs par token. Pour 32 Go.</translation>
    </message>
    <message>
        <source>Accurate everyday answers in more than 100 languages, for machines with 8 to 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Réponses précises au quotidien dans plus de 100 langues, pour les ordinateurs avec 8 à 16 Go.</translation>
    </message>
    <message>
        <source>Accurate long answers, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Longues réponses précises, pour 32 Go de mémoire rapide.</translation>
    </message>
    <message>
        <source>Active requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Requêtes en cours</translation>
    </message>
    <message>
        <source>Add</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Ajouter</translation>
    </message>
    <message>
        <source>Add a fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Ajouter un fait</translation>
    </message>
    <message>
        <source>Add a fact, and press Enter</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Ajoutez un fait, puis appuyez sur Entrée</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <extracomment>app/gui/libraries/pane.py, app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Ajouter un dossier</translation>
    </message>
    <message>
        <source>Add a folder of documents…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Ajouter un dossier de documents…</translation>
    </message>
    <message>
        <source>Add a model folder</source>
        <extracomment>app/gui/chat/pane.py, app/gui/model_box.py, app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Ajouter un dossier de modèles</translation>
    </message>
    <message>
        <source>Add a model folder…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Ajouter un dossier de modèles…</translation>
    </message>
    <message>
        <source>Add a server</source>
        <extracomment>app/gui/models/pane.py, app/gui/models/remote_form.py</extracomment>
        <translation>Ajouter un serveur</translation>
    </message>
    <message>
        <source>Add an MCP server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ajouter un serveur MCP</translation>
    </message>
    <message>
        <source>Add audio files</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Ajouter des fichiers audio</translation>
    </message>
    <message>
        <source>Add files</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Ajouter des fichiers</translation>
    </message>
    <message>
        <source>Add files…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Ajouter des fichiers…</translation>
    </message>
    <message>
        <source>Add from JSON</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ajouter depuis le JSON</translation>
    </message>
    <message>
        <source>Add server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ajouter le serveur</translation>
    </message>
    <message>
        <source>Add tools…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Ajouter des outils…</translation>
    </message>
    <message>
        <source>Added from {folder}: {models}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Ajoutés depuis {folder}&#xa0;: {models}.</translation>
    </message>
    <message>
        <source>Added: {names}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Ajouté : {names}.</translation>
    </message>
    <message>
        <source>Added: {names}. Left out: {fields}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Ajouté : {names}. Ignoré : {fields}.</translation>
    </message>
    <message>
        <source>Address</source>
        <extracomment>app/gui/models/remote_form.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Address of the search</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Adresse de la recherche</translation>
    </message>
    <message>
        <source>Adds what the file contains. Settings with the same name are replaced.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Ajoute le contenu du fichier. Les réglages du même nom sont remplacés.</translation>
    </message>
    <message>
        <source>All</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Tous</translation>
    </message>
    <message>
        <source>All files of {model} are intact.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Tous les fichiers de {model} sont intacts.</translation>
    </message>
    <message>
        <source>All pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Toutes les pages</translation>
    </message>
    <message>
        <source>Allow</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Autoriser</translation>
    </message>
    <message>
        <source>Allow in this conversation</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Autoriser dans cette conversation</translation>
    </message>
    <message>
        <source>Allow once</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Autoriser une fois</translation>
    </message>
    <message>
        <source>Allow {tool}?</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Autoriser {tool} ?</translation>
    </message>
    <message>
        <source>Allowed web origins (CORS)</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Origines web autorisées (CORS)</translation>
    </message>
    <message>
        <source>Also available as</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Aussi disponible en</translation>
    </message>
    <message>
        <source>Always</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Toujours</translation>
    </message>
    <message>
        <source>Always allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Toujours autoriser</translation>
    </message>
    <message>
        <source>Among how many devices a text model is split, which compute it together. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Nombre de périphériques entre lesquels un modèle de texte est réparti, qui le calculent ensemble. S’applique aux modèles chargés à partir de maintenant.</translation>
    </message>
    <message>
        <source>An audiobook is written as {kinds}, not as {ending}.</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>Un livre audio s’écrit en {kinds}, pas en {ending}.</translation>
    </message>
    <message>
        <source>Analyzing the recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Analyse de l’enregistrement.</translation>
    </message>
    <message>
        <source>Another name</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>Autre nom</translation>
    </message>
    <message>
        <source>Another process is making this audiobook now: {folder}.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>Un autre processus crée ce livre audio en ce moment : {folder}.</translation>
    </message>
    <message>
        <source>Answers next: {models}.</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Répond ensuite : {models}.</translation>
    </message>
    <message>
        <source>Answers the next message, too.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Répond aussi au prochain message.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Apparence</translation>
    </message>
    <message>
        <source>Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Prend effet après un redémarrage de Grus.</translation>
    </message>
    <message>
        <source>Architecture</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Architecture</translation>
    </message>
    <message>
        <source>Arguments</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Arguments</translation>
    </message>
    <message>
        <source>Ask</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Demander</translation>
    </message>
    <message>
        <source>Ask about images: a vision model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Poser des questions sur des images&#xa0;: un modèle de vision.</translation>
    </message>
    <message>
        <source>Ask anything</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Posez une question</translation>
    </message>
    <message>
        <source>Ask in Chat</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Demander dans Chat</translation>
    </message>
    <message>
        <source>Ask your documents</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Interrogez vos documents</translation>
    </message>
    <message>
        <source>Asking the server for its models.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Demande des modèles au serveur.</translation>
    </message>
    <message>
        <source>Asking the tool servers.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Interrogation des serveurs d’outils.</translation>
    </message>
    <message>
        <source>Asking {name} where to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} est interrogé sur le lieu de connexion.</translation>
    </message>
    <message>
        <source>At most {n} models are compared.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>On compare au plus {n} modèles.</translation>
    </message>
    <message>
        <source>Attach</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Joindre</translation>
    </message>
    <message>
        <source>Attach a resource</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>Joindre une ressource</translation>
    </message>
    <message>
        <source>Attach a resource…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>Joindre une ressource…</translation>
    </message>
    <message>
        <source>Attach files</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Joindre des fichiers</translation>
    </message>
    <message>
        <source>Attachments</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Pièces jointes</translation>
    </message>
    <message>
        <source>Audio</source>
        <extracomment>app/gui/listen/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Audio</translation>
    </message>
    <message>
        <source>Audiobooks are written through PyAV, which is missing here: pip install av</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>Les livres audio s’écrivent avec PyAV, absent ici : pip install av</translation>
    </message>
    <message>
        <source>Automatic</source>
        <extracomment>app/gui/viewmodels/settings.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Automatique</translation>
    </message>
    <message>
        <source>Backend</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Moteur</translation>
    </message>
    <message>
        <source>Backend and device apply to models loaded from now on. The memory limit applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Le moteur et l’appareil s’appliquent aux modèles chargés à partir de maintenant. La limite de mémoire s’applique après un redémarrage de Grus.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Équilibré</translation>
    </message>
    <message>
        <source>Broad knowledge and quick answers: 3 of 35 billion parameters are active per token. For 32 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Connaissances étendues et réponses rapides&#xa0;: 3 milliards de paramètres sur 35 sont actifs par token. À partir de 32 Go.</translation>
    </message>
    <message>
        <source>CUDA pack {version} is installed.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Le pack CUDA {version} est installé.</translation>
    </message>
    <message>
        <source>Calculator</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Calculatrice</translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>app/gui/chat/server_items.py, app/gui/models/remote_form.py, app/gui/read/pane.py, app/gui/settings/cuda_pack.py, app/gui/settings/pane.py, app/gui/settings/tools.py, app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Cancel editing</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Annuler la modification</translation>
    </message>
    <message>
        <source>Cancel reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Annuler la lecture</translation>
    </message>
    <message>
        <source>Cancel the selected request</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Annuler la requête sélectionnée</translation>
    </message>
    <message>
        <source>Caption</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Légende</translation>
    </message>
    <message>
        <source>Capture part of the screen</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Capturer une partie de l’écran</translation>
    </message>
    <message>
        <source>Chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Chapitres</translation>
    </message>
    <message>
        <source>Chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Graphique</translation>
    </message>
    <message>
        <source>Chat</source>
        <extracomment>app/gui/chat/actions.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Discussion</translation>
    </message>
    <message>
        <source>Chat with this model</source>
        <extracomment>app/gui/models/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Discuter avec ce modèle</translation>
    </message>
    <message>
        <source>Chatterbox does not understand the instruction {words}. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox ne comprend pas l’instruction {words}. {how}</translation>
    </message>
    <message>
        <source>Chatterbox has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox n’a pas de voix {name}. Il a : {voices}.</translation>
    </message>
    <message>
        <source>Check for new versions of Grus when it starts?</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Rechercher les nouvelles versions de Grus au démarrage ?</translation>
    </message>
    <message>
        <source>Check for new versions when Grus starts</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Rechercher les nouvelles versions au démarrage</translation>
    </message>
    <message>
        <source>Check now</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Rechercher maintenant</translation>
    </message>
    <message>
        <source>Checking for a new version failed: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>La recherche d’une nouvelle version a échoué : {reason}.</translation>
    </message>
    <message>
        <source>Checking for a new version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Recherche d’une nouvelle version.</translation>
    </message>
    <message>
        <source>Checking the keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Vérification du trousseau.</translation>
    </message>
    <message>
        <source>Checking this machine.</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Vérification de cet ordinateur.</translation>
    </message>
    <message>
        <source>Choose</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Choisir</translation>
    </message>
    <message>
        <source>Choose a file</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Choisir un fichier</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <extracomment>app/gui/read/watch.py, app/gui/settings/speculation.py, app/gui/settings/tools.py</extracomment>
        <translation>Choisir un dossier</translation>
    </message>
    <message>
        <source>Choose a folder for downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Choisir un dossier pour les modèles téléchargés</translation>
    </message>
    <message>
        <source>Choose a model first, in the menu above the conversation.</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Choisissez d’abord un modèle dans le menu au-dessus de la conversation.</translation>
    </message>
    <message>
        <source>Choose a preset voice or a recording, not both.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Choisissez une voix prédéfinie ou un enregistrement, pas les deux.</translation>
    </message>
    <message>
        <source>Choose either a preset voice or a cloned one, not both.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py, engine/pipelines/speaking/spark.py</extracomment>
        <translation>Choisissez une voix prédéfinie ou une voix clonée, pas les deux.</translation>
    </message>
    <message>
        <source>Choose libraries…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Choisir des bibliothèques…</translation>
    </message>
    <message>
        <source>Choose the folder of a draft model</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Choisir le dossier d’un modèle d’ébauche</translation>
    </message>
    <message>
        <source>Choose the model</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Choisir le modèle</translation>
    </message>
    <message>
        <source>Choose the reply to continue with.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Choisissez la réponse avec laquelle continuer.</translation>
    </message>
    <message>
        <source>Choose tools…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Choisir des outils…</translation>
    </message>
    <message>
        <source>Clean up dictation</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Corriger la dictée</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/models/pane.py</extracomment>
        <translation>Effacer la recherche</translation>
    </message>
    <message>
        <source>Click to name the speaker.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Cliquez pour nommer le locuteur.</translation>
    </message>
    <message>
        <source>Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Cliquez pour écouter.</translation>
    </message>
    <message>
        <source>Clones a voice from a recording of a few seconds.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Clone une voix à partir d’un enregistrement de quelques secondes.</translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>app/gui/chat/offer.py, app/gui/logview.py, app/gui/palette.py</extracomment>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Close the preview</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Fermer l’aperçu</translation>
    </message>
    <message>
        <source>Close the search</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>Fermer la recherche</translation>
    </message>
    <message>
        <source>Close this message</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Fermer ce message</translation>
    </message>
    <message>
        <source>Close window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Fermer la fenêtre</translation>
    </message>
    <message>
        <source>Code</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/preview_panel.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Code</translation>
    </message>
    <message>
        <source>Code and long chains of tool calls: 3 of 30 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Code et longues suites d’appels d’outils&#xa0;: 3 milliards de paramètres sur 30 sont actifs par token. Pour 32 Go.</translation>
    </message>
    <message>
        <source>Colours</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Couleurs</translation>
    </message>
    <message>
        <source>Command or address</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Commande ou adresse</translation>
    </message>
    <message>
        <source>Command palette</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Palette de commandes</translation>
    </message>
    <message>
        <source>Compare models</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Comparer des modèles</translation>
    </message>
    <message>
        <source>Compute</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Matériel</translation>
    </message>
    <message>
        <source>Computes expressions.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Calcule des expressions.</translation>
    </message>
    <message>
        <source>Connect an agent</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Connecter un agent</translation>
    </message>
    <message>
        <source>Connect from</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Se connecter depuis</translation>
    </message>
    <message>
        <source>Connect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>Connecter {program}</translation>
    </message>
    <message>
        <source>Context</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Contexte</translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Continuer</translation>
    </message>
    <message>
        <source>Continue reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Reprendre la lecture</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuer la réponse</translation>
    </message>
    <message>
        <source>Continue with the first reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuer avec la première réponse</translation>
    </message>
    <message>
        <source>Continue with the second reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuer avec la deuxième réponse</translation>
    </message>
    <message>
        <source>Continue with the third reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuer avec la troisième réponse</translation>
    </message>
    <message>
        <source>Continue with this</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Continuer avec celle-ci</translation>
    </message>
    <message>
        <source>Conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/transcript.py</extracomment>
        <translation>Conversation</translation>
    </message>
    <message>
        <source>Conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>Conversations</translation>
    </message>
    <message>
        <source>Conversations, facts, results, voices and settings as one file. Server keys, the Hugging Face token and models stay here.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Conversations, faits, résultats, voix et réglages dans un seul fichier. Les clés du serveur, le jeton Hugging Face et les modèles restent ici.</translation>
    </message>
    <message>
        <source>Conversations, results and voices</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Conversations, résultats et voix</translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py</extracomment>
        <translation>Copié.</translation>
    </message>
    <message>
        <source>Copy</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/dictation_key.py, app/gui/logview.py</extracomment>
        <translation>Copier</translation>
    </message>
    <message>
        <source>Copy as spoken</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Copier tel que dit</translation>
    </message>
    <message>
        <source>Copy snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Copier l’extrait</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <extracomment>app/gui/server/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Copier l’adresse</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Copier le code</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Copier la clé</translation>
    </message>
    <message>
        <source>Copy the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Copier le dernier code</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Copier le message</translation>
    </message>
    <message>
        <source>Copy the region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Copier la zone</translation>
    </message>
    <message>
        <source>Copy the text</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Copier le texte</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Lecture impossible</translation>
    </message>
    <message>
        <source>Could not delete: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Suppression impossible&#xa0;: {error}.</translation>
    </message>
    <message>
        <source>Could not save: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Enregistrement impossible&#xa0;: {error}.</translation>
    </message>
    <message>
        <source>Create key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Créer une clé</translation>
    </message>
    <message>
        <source>Creates a voice from a description.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Crée une voix à partir d’une description.</translation>
    </message>
    <message>
        <source>Creative</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Créatif</translation>
    </message>
    <message>
        <source>Damaged: {files}. Delete {model} and download it again.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Endommagé&#xa0;: {files}. Supprimez {model} et téléchargez-le à nouveau.</translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Sombre</translation>
    </message>
    <message>
        <source>Date and time</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Date et heure</translation>
    </message>
    <message>
        <source>Default</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/speak/pane.py</extracomment>
        <translation>Par défaut</translation>
    </message>
    <message>
        <source>Default text size</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Taille de texte par défaut</translation>
    </message>
    <message>
        <source>Defaults of this model</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Valeurs par défaut de ce modèle</translation>
    </message>
    <message>
        <source>Delete</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Delete all</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Tout supprimer</translation>
    </message>
    <message>
        <source>Delete all conversations, results, voices, files and settings of Grus? This cannot be undone.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Supprimer toutes les conversations, tous les résultats, voix, fichiers et paramètres de Grus&#xa0;? Cette action est irréversible.</translation>
    </message>
    <message>
        <source>Delete all now</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Tout supprimer maintenant</translation>
    </message>
    <message>
        <source>Delete the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Supprimer la conversation</translation>
    </message>
    <message>
        <source>Delete the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Supprimer la clé</translation>
    </message>
    <message>
        <source>Delete the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Supprimer le message</translation>
    </message>
    <message>
        <source>Delete the model</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Supprimer le modèle</translation>
    </message>
    <message>
        <source>Delete the preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Supprimer le préréglage</translation>
    </message>
    <message>
        <source>Delete the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Supprimer la voix</translation>
    </message>
    <message>
        <source>Delete this fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Supprimer ce fait</translation>
    </message>
    <message>
        <source>Describe the voice: this VoiceDesign model makes one from instructions.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Décrivez la voix&#xa0;: ce modèle VoiceDesign la crée à partir d’instructions.</translation>
    </message>
    <message>
        <source>Detect language</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Détecter la langue</translation>
    </message>
    <message>
        <source>Device</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Appareil</translation>
    </message>
    <message>
        <source>Dictate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Dicter</translation>
    </message>
    <message>
        <source>Dictate and talk: a speech recognition model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Dicter et converser&#xa0;: un modèle de reconnaissance vocale.</translation>
    </message>
    <message>
        <source>Dictating. Press again to stop.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Dictée en cours. Appuyez à nouveau pour l’arrêter.</translation>
    </message>
    <message>
        <source>Dictation</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Dictée</translation>
    </message>
    <message>
        <source>Dictation into other apps needs a desktop. In a message, Ctrl+Shift+V dictates.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>La dictée dans d’autres applications demande un environnement de bureau. Dans un message, Ctrl+Maj+V dicte.</translation>
    </message>
    <message>
        <source>Dictation key</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Touche de dictée</translation>
    </message>
    <message>
        <source>Discard</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Abandonner</translation>
    </message>
    <message>
        <source>Disconnect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>Déconnecter {program}</translation>
    </message>
    <message>
        <source>Disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Disque</translation>
    </message>
    <message>
        <source>Document reading (OCR)</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Lecture de documents (OCR)</translation>
    </message>
    <message>
        <source>Document search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Recherche documentaire</translation>
    </message>
    <message>
        <source>Documents</source>
        <extracomment>app/gui/read/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Documents</translation>
    </message>
    <message>
        <source>Documents that could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Documents qui n’ont pas pu être lus</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Ne pas autoriser</translation>
    </message>
    <message>
        <source>Done</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Terminé</translation>
    </message>
    <message>
        <source>Download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/settings/cuda_pack.py, app/gui/settings/updates.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Télécharger</translation>
    </message>
    <message>
        <source>Download a model first.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>Téléchargez d’abord un modèle.</translation>
    </message>
    <message>
        <source>Download, pause or resume</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Télécharger, suspendre ou reprendre</translation>
    </message>
    <message>
        <source>Downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Modèles téléchargés</translation>
    </message>
    <message>
        <source>Downloading</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Téléchargements en cours</translation>
    </message>
    <message>
        <source>Downloading {model} from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Téléchargement de {model} depuis Hugging Face.</translation>
    </message>
    <message>
        <source>Downloading {model}: {done} of {total}, about {left} s left.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>Téléchargement de {model}&#xa0;: {done} sur {total}, encore {left} s environ.</translation>
    </message>
    <message>
        <source>Downloading: {done} of {total}</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py, app/gui/viewmodels/updates.py</extracomment>
        <translation>Téléchargement : {done} sur {total}</translation>
    </message>
    <message>
        <source>Draft model</source>
        <extracomment>app/gui/settings/speculation.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Modèle d’ébauche</translation>
    </message>
    <message>
        <source>Draft tokens from</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Tokens d’ébauche issus de</translation>
    </message>
    <message>
        <source>Draw a box around the area to read. Press Esc to cancel.</source>
        <extracomment>app/gui/read/snip.py</extracomment>
        <translation>Tracez un cadre autour de la zone à lire. Échap annule.</translation>
    </message>
    <message>
        <source>Drawn at {drawn} instead of {wanted} dots an inch, because the page is so large.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Rendue à {drawn} au lieu de {wanted} points par pouce, car la page est très grande.</translation>
    </message>
    <message>
        <source>Drop a folder of documents here. It is read and searched on this machine, and Chat answers from it and says where.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Déposez ici un dossier de documents. Il est lu et parcouru sur cette machine ; Chat répond à partir de lui et indique où.</translation>
    </message>
    <message>
        <source>Drop a recording here, or record from the microphone and read along.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Déposez un enregistrement ici, ou enregistrez avec le micro et suivez le texte.</translation>
    </message>
    <message>
        <source>Drop documents, photos or scans here, paste an image, or capture part of the screen.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Déposez ici des documents, des photos ou des numérisations, collez une image ou capturez une partie de l’écran.</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Dupliquer</translation>
    </message>
    <message>
        <source>Duplicate the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Dupliquer la conversation</translation>
    </message>
    <message>
        <source>Each query goes to {address}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Chaque requête va à {address}.</translation>
    </message>
    <message>
        <source>Earlier</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Plus ancien</translation>
    </message>
    <message>
        <source>Edit</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Modifier</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Modifier le message</translation>
    </message>
    <message>
        <source>Editing a message. The original stays as another branch.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Modification d’un message. L’original reste dans une autre branche.</translation>
    </message>
    <message>
        <source>Editing the reply.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Modification de la réponse.</translation>
    </message>
    <message>
        <source>Embedding</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Embeddings</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s defaults.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Les champs vides utilisent les valeurs par défaut du modèle.</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s own defaults. Settings of a conversation take precedence.</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Les champs vides utilisent les valeurs par défaut du modèle. Les réglages d’une conversation sont prioritaires.</translation>
    </message>
    <message>
        <source>End</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Terminer</translation>
    </message>
    <message>
        <source>End Talk</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Terminer la conversation vocale</translation>
    </message>
    <message>
        <source>End Talk (Esc)</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Terminer la conversation vocale (Échap)</translation>
    </message>
    <message>
        <source>Enter a command, such as npx -y @modelcontextprotocol/server-memory, or an address.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Saisissez une commande, par exemple npx -y @modelcontextprotocol/server-memory, ou une adresse.</translation>
    </message>
    <message>
        <source>Enter a share like 70 %, or a size like 12 GB.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Saisissez une part comme 70&#xa0;%, ou une taille comme 12 GB.</translation>
    </message>
    <message>
        <source>Enter the name of a model, or choose a folder. Until then nothing is drafted.</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>Saisissez le nom d’un modèle ou choisissez un dossier. D’ici là, il n’y a pas d’ébauche.</translation>
    </message>
    <message>
        <source>Enter tool result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Saisir le résultat de l’outil</translation>
    </message>
    <message>
        <source>Errors and crashes of Grus on this machine. The log contains nothing that you write, say or read, and is never sent anywhere.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Erreurs et plantages de Grus sur cet ordinateur. Le journal ne contient rien de ce que vous écrivez, dites ou lisez, et n’est jamais envoyé.</translation>
    </message>
    <message>
        <source>Errors and crashes, stored on this machine. Export the log to get help.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Erreurs et plantages, stockés sur cet ordinateur. Exportez le journal pour obtenir de l’aide.</translation>
    </message>
    <message>
        <source>Even broader knowledge and quick answers: 3 of 80 billion parameters are active per token. For 80 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Connaissances encore plus étendues et réponses rapides&#xa0;: 3 milliards de paramètres sur 80 sont actifs par token. À partir de 80 Go.</translation>
    </message>
    <message>
        <source>Everyday questions in more than 100 languages, for machines with 8 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Questions du quotidien dans plus de 100 langues, pour les ordinateurs avec 8 Go.</translation>
    </message>
    <message>
        <source>Everything</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Tout</translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Tout est de nouveau enregistré.</translation>
    </message>
    <message>
        <source>Everything stays on this machine</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Tout reste sur cet ordinateur</translation>
    </message>
    <message>
        <source>Everything was deleted. Models are still on this machine.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Tout a été supprimé. Les modèles sont toujours sur cet ordinateur.</translation>
    </message>
    <message>
        <source>Export</source>
        <extracomment>app/gui/chat/actions.py, app/gui/listen/pane.py, app/gui/logview.py, app/gui/read/pane.py</extracomment>
        <translation>Exporter</translation>
    </message>
    <message>
        <source>Export all</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Tout exporter</translation>
    </message>
    <message>
        <source>Export all conversations</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exporter toutes les conversations</translation>
    </message>
    <message>
        <source>Export and import</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Exportation et importation</translation>
    </message>
    <message>
        <source>Export as</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Exporter en</translation>
    </message>
    <message>
        <source>Export as JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exporter en JSON</translation>
    </message>
    <message>
        <source>Export as Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exporter en Markdown</translation>
    </message>
    <message>
        <source>Export as PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exporter en PDF</translation>
    </message>
    <message>
        <source>Export everything</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Tout exporter</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exporter la conversation</translation>
    </message>
    <message>
        <source>Export the log</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Exporter le journal</translation>
    </message>
    <message>
        <source>Fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Fait</translation>
    </message>
    <message>
        <source>Fact memory</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Mémoire des faits</translation>
    </message>
    <message>
        <source>Female voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Voix féminine</translation>
    </message>
    <message>
        <source>File reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Lecteur de fichiers</translation>
    </message>
    <message>
        <source>Files</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Fichiers</translation>
    </message>
    <message>
        <source>Filter this list</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Filtrer cette liste</translation>
    </message>
    <message>
        <source>Find</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Rechercher</translation>
    </message>
    <message>
        <source>Find an action, a conversation or a model</source>
        <extracomment>app/gui/palette.py</extracomment>
        <translation>Rechercher une action, une conversation ou un modèle</translation>
    </message>
    <message>
        <source>Find and replace</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Rechercher et remplacer</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/find_bar.py</extracomment>
        <translation>Rechercher dans cette conversation</translation>
    </message>
    <message>
        <source>Finds passages of a library by their meaning, in more than 100 languages and in code.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Trouve les passages d&apos;une bibliothèque par leur sens, dans plus de 100 langues et dans du code.</translation>
    </message>
    <message>
        <source>Finishing running requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Fin des requêtes en cours</translation>
    </message>
    <message>
        <source>Fit width</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Ajuster à la largeur</translation>
    </message>
    <message>
        <source>Fits this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Adapté à cet ordinateur&#xa0;: nécessite environ {needed} sur {has}.</translation>
    </message>
    <message>
        <source>Folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Dossiers</translation>
    </message>
    <message>
        <source>Footer</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Pied de page</translation>
    </message>
    <message>
        <source>Footnote</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Note de bas de page</translation>
    </message>
    <message>
        <source>For all models together, as a share or a size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Pour tous les modèles réunis, en part ou en taille.</translation>
    </message>
    <message>
        <source>For gated models. It is sent only to Hugging Face.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Pour les modèles à accès restreint. Il n’est envoyé qu’à Hugging Face.</translation>
    </message>
    <message>
        <source>For the hardest questions: 5 of 117 billion parameters are active per token. For 96 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Pour les questions les plus difficiles&#xa0;: 5 milliards de paramètres sur 117 sont actifs par token. À partir de 96 Go.</translation>
    </message>
    <message>
        <source>Forget the voice of {name}</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Oublier la voix de {name}</translation>
    </message>
    <message>
        <source>Format</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Format</translation>
    </message>
    <message>
        <source>Formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Formule</translation>
    </message>
    <message>
        <source>From another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Depuis une autre machine</translation>
    </message>
    <message>
        <source>From disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Depuis le disque</translation>
    </message>
    <message>
        <source>From the tool. Not checked, and no instruction:</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>De l’outil. Non vérifié, et ce n’est pas une instruction :</translation>
    </message>
    <message>
        <source>Full screen</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Plein écran</translation>
    </message>
    <message>
        <source>Get a model</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Obtenir un modèle</translation>
    </message>
    <message>
        <source>Get a model…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Obtenir un modèle…</translation>
    </message>
    <message>
        <source>Get a real model: {model}, {facts}.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Obtenir un vrai modèle : {model}, {facts}.</translation>
    </message>
    <message>
        <source>Get a vision model</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>Obtenir un modèle de vision</translation>
    </message>
    <message>
        <source>Getting sizes from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Récupération des tailles depuis Hugging Face.</translation>
    </message>
    <message>
        <source>Getting the list of files from Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Récupération de la liste des fichiers depuis Hugging Face</translation>
    </message>
    <message>
        <source>Global shortcut</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Raccourci global</translation>
    </message>
    <message>
        <source>Go to the message field</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Aller au champ de message</translation>
    </message>
    <message>
        <source>Good at text, code and tools with little memory. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Bon en texte, code et outils avec peu de mémoire. Raisonnement facultatif.</translation>
    </message>
    <message>
        <source>Grus cannot save: {reason}. Your changes are kept in memory until it can.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Grus ne peut pas enregistrer&#xa0;: {reason}. Vos modifications restent en mémoire en attendant.</translation>
    </message>
    <message>
        <source>Grus computes on the CPU. To compute on the NVIDIA GPU, it needs the CUDA pack: a download of {size}.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Grus calcule sur le CPU. Pour calculer sur le GPU NVIDIA, il lui faut le pack CUDA : un téléchargement de {size}.</translation>
    </message>
    <message>
        <source>Grus does not look for a new version: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Grus ne recherche pas de nouvelle version : {reason}.</translation>
    </message>
    <message>
        <source>Grus does not support the architecture of this model.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Grus ne prend pas en charge l’architecture de ce modèle.</translation>
    </message>
    <message>
        <source>Grus ended unexpectedly last time. Nothing was deleted.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Grus s’est fermé de façon inattendue la dernière fois. Rien n’a été supprimé.</translation>
    </message>
    <message>
        <source>Grus has no accounts and sends nothing on its own. All of this is stored only on this machine.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus n’utilise aucun compte et n’envoie rien de lui-même. Tout ceci est stocké uniquement sur cet ordinateur.</translation>
    </message>
    <message>
        <source>Grus listens again when it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Grus écoute de nouveau quand il a fini de parler.</translation>
    </message>
    <message>
        <source>Grus never changes files in these folders.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus ne modifie jamais les fichiers de ces dossiers.</translation>
    </message>
    <message>
        <source>Grus was started with --offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>Grus a été démarré avec --offline</translation>
    </message>
    <message>
        <source>Grus was told to work offline</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Grus doit travailler hors ligne</translation>
    </message>
    <message>
        <source>Grus {version} is available.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} est disponible.</translation>
    </message>
    <message>
        <source>Grus {version} is the newest version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} est la version la plus récente.</translation>
    </message>
    <message>
        <source>HTML</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>HTML</translation>
    </message>
    <message>
        <source>Have replies and texts read aloud: a text-to-speech model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Faire lire les réponses et les textes à voix haute&#xa0;: un modèle de synthèse vocale.</translation>
    </message>
    <message>
        <source>Header</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>En-tête</translation>
    </message>
    <message>
        <source>Heading</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Titre</translation>
    </message>
    <message>
        <source>Headphones</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Casque</translation>
    </message>
    <message>
        <source>Hide reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Masquer le raisonnement</translation>
    </message>
    <message>
        <source>Hide the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Masquer l’appel</translation>
    </message>
    <message>
        <source>Hide tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Masquer les outils</translation>
    </message>
    <message>
        <source>High</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Élevé</translation>
    </message>
    <message>
        <source>High contrast</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Contraste élevé</translation>
    </message>
    <message>
        <source>History</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Historique</translation>
    </message>
    <message>
        <source>Hold it, speak, and let it go: the text appears at the cursor, in any app. Clear the field for none.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Maintenez-la, parlez, relâchez-la : le texte apparaît au curseur, dans toute application. Videz le champ pour n’en avoir aucune.</translation>
    </message>
    <message>
        <source>How many threads of the CPU compute without mains power. Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Combien de fils du processeur calculent sans alimentation secteur. Prend effet au redémarrage de Grus.</translation>
    </message>
    <message>
        <source>How many times a text model is loaded, on a device each, for many requests at once. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Combien de fois un modèle de texte est chargé, chaque fois sur un périphérique, pour de nombreuses requêtes simultanées. S’applique aux modèles chargés à partir de maintenant.</translation>
    </message>
    <message>
        <source>How much of the disk may hold weights that were prepared for this CPU. Such a model opens at once the next time.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>La place que peuvent prendre sur le disque les poids préparés pour ce processeur. Un tel modèle s’ouvre aussitôt la fois suivante.</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>Hugging Face answered with status {status}. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face a répondu avec l’état {status}. Réessayez plus tard.</translation>
    </message>
    <message>
        <source>Hugging Face cannot be reached. Check the network, then try again.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Hugging Face est injoignable. Vérifiez le réseau, puis réessayez.</translation>
    </message>
    <message>
        <source>Hugging Face does not know your token (status 401). Make a new one on its page, then {advice}. `grus token remove` continues without one.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face ne reconnaît pas votre jeton (état 401). Créez-en un nouveau sur sa page, puis {advice}. `grus token remove` continue sans jeton.</translation>
    </message>
    <message>
        <source>Hugging Face has no repository {repo}, or it is private. For a private one, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face n’a pas de dépôt {repo}, ou il est privé. S’il est privé, {advice}.</translation>
    </message>
    <message>
        <source>Hugging Face is not asked: {why}.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Hugging Face n’est pas interrogé&#xa0;: {why}.</translation>
    </message>
    <message>
        <source>Hugging Face refused access to {repo} (status {status}). To be let in, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face a refusé l’accès à {repo} (état {status}). Pour y accéder, {advice}.</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in some minutes.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face n’accepte plus de requêtes d’ici (état 429). Réessayez dans quelques minutes.</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in {n} s.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face n’accepte plus de requêtes d’ici (état 429). Réessayez dans {n} s.</translation>
    </message>
    <message>
        <source>Hugging Face token</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Jeton Hugging Face</translation>
    </message>
    <message>
        <source>Import an archive</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Importer une archive</translation>
    </message>
    <message>
        <source>Import conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Importer une conversation</translation>
    </message>
    <message>
        <source>Imported</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Importée</translation>
    </message>
    <message>
        <source>Importing: {done} of {total} conversations.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Importation : {done} conversations sur {total}.</translation>
    </message>
    <message>
        <source>In addition to the system&apos;s text size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>En plus de la taille de texte du système.</translation>
    </message>
    <message>
        <source>In memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>En mémoire</translation>
    </message>
    <message>
        <source>In tokens. At this limit the model stops reasoning and answers.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>En tokens. À cette limite, le modèle cesse de raisonner et répond.</translation>
    </message>
    <message>
        <source>In tokens. Empty: up to the context length.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>En tokens. Vide&#xa0;: jusqu’à la longueur du contexte.</translation>
    </message>
    <message>
        <source>Included with Grus</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Fourni avec Grus</translation>
    </message>
    <message>
        <source>Incomplete</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Incomplet</translation>
    </message>
    <message>
        <source>Install</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Installer</translation>
    </message>
    <message>
        <source>Install and restart</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Installer et redémarrer</translation>
    </message>
    <message>
        <source>Install it as you installed Grus, for example: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Installez-la comme vous avez installé Grus, par exemple : {command}</translation>
    </message>
    <message>
        <source>Instructions</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pane.py</extracomment>
        <translation>Instructions</translation>
    </message>
    <message>
        <source>Interrupt</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Interrompre</translation>
    </message>
    <message>
        <source>Interrupt the voice</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Interrompre la voix</translation>
    </message>
    <message>
        <source>It does not contain server keys, the Hugging Face token or models.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Il ne contient ni les clés du serveur, ni le jeton Hugging Face, ni les modèles.</translation>
    </message>
    <message>
        <source>It has changed since you allowed it.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Il a changé depuis votre autorisation.</translation>
    </message>
    <message>
        <source>It is not clear which way up this page is. Turn it if the text makes no sense.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Le sens de cette page n’est pas clair. Faites-la pivoter si le texte n’a pas de sens.</translation>
    </message>
    <message>
        <source>JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>JSON</translation>
    </message>
    <message>
        <source>Jump to the latest message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Aller au dernier message</translation>
    </message>
    <message>
        <source>Jump to the latest message (Ctrl+End)</source>
        <extracomment>app/gui/chat/transcript.py</extracomment>
        <translation>Aller au dernier message (Ctrl+Fin)</translation>
    </message>
    <message>
        <source>Key</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Clé</translation>
    </message>
    <message>
        <source>Key, if it needs one</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Clé, si nécessaire</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <extracomment>app/gui/palette.py, app/gui/window.py</extracomment>
        <translation>Raccourcis clavier</translation>
    </message>
    <message>
        <source>Keys</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Clés</translation>
    </message>
    <message>
        <source>Known voices</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Voix connues</translation>
    </message>
    <message>
        <source>Knows more than its speed suggests: 1.5 of 8 billion parameters are active per token. For 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>En sait plus que sa vitesse ne le laisse croire&#xa0;: 1,5 milliard de paramètres sur 8 sont actifs par token. Pour 16 Go.</translation>
    </message>
    <message>
        <source>Knows the voices that you named in the next recording, beside a model that tells speakers apart.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Reconnaît dans l’enregistrement suivant les voix que vous avez nommées, à côté d’un modèle qui distingue les locuteurs.</translation>
    </message>
    <message>
        <source>Kokoro does not speak {language} here. It speaks: {known}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro ne parle pas {language} ici. Langues disponibles&#xa0;: {known}.</translation>
    </message>
    <message>
        <source>Kokoro has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro n’a pas de voix {name}. Voix disponibles&#xa0;: {voices}.</translation>
    </message>
    <message>
        <source>Kokoro has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro a ses propres voix et n’en clone pas. Pour cloner, choisissez un modèle Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>Kokoro needs the program espeak-ng, which tells how words are pronounced. Install it (Debian: apt install espeak-ng, macOS: brew install espeak-ng), or choose another voice.</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>Kokoro a besoin du programme espeak-ng, qui indique la prononciation des mots. Installez-le (Debian&#xa0;: apt install espeak-ng, macOS&#xa0;: brew install espeak-ng) ou choisissez une autre voix.</translation>
    </message>
    <message>
        <source>Kokoro takes no instructions. Its voices differ in tone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro n’accepte pas d’instructions. Ses voix diffèrent par le ton.</translation>
    </message>
    <message>
        <source>Language</source>
        <extracomment>app/gui/settings/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Langue</translation>
    </message>
    <message>
        <source>Larger text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Texte plus grand</translation>
    </message>
    <message>
        <source>Leave empty if the server needs none</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Laisser vide si le serveur n’en demande pas</translation>
    </message>
    <message>
        <source>Leave out tokens less likely than this share of the most likely one.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Exclut les tokens moins probables que cette fraction du plus probable.</translation>
    </message>
    <message>
        <source>Left out, because they are malformed: {names}.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Laissées de côté, car mal formées : {names}.</translation>
    </message>
    <message>
        <source>Level</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Niveau</translation>
    </message>
    <message>
        <source>Libraries</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/libraries/pane.py, app/gui/pane.py</extracomment>
        <translation>Bibliothèques</translation>
    </message>
    <message>
        <source>Licence</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Licence</translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Clair</translation>
    </message>
    <message>
        <source>Line {number} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>La ligne {number} n’est pas de la forme : mot = sa prononciation.</translation>
    </message>
    <message>
        <source>Line {number} of {path} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>La ligne {number} de {path} n’a pas la forme : mot = comment il se dit.</translation>
    </message>
    <message>
        <source>List</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Liste</translation>
    </message>
    <message>
        <source>Listen</source>
        <extracomment>app/gui/listen/pane.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Écouter</translation>
    </message>
    <message>
        <source>Listening</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/listen.py</extracomment>
        <translation>Écoute en cours</translation>
    </message>
    <message>
        <source>Load</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Charger</translation>
    </message>
    <message>
        <source>Load or unload</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Charger ou décharger</translation>
    </message>
    <message>
        <source>Loading models</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Chargement des modèles</translation>
    </message>
    <message>
        <source>Loading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py, app/window_engine.py, app/window_reply.py</extracomment>
        <translation>Chargement de {model}.</translation>
    </message>
    <message>
        <source>Location</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Emplacement</translation>
    </message>
    <message>
        <source>Log</source>
        <extracomment>app/gui/logview.py, app/gui/server/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Journal</translation>
    </message>
    <message>
        <source>Long texts, tools and code, for machines with 16 to 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Longs textes, outils et code, pour les ordinateurs avec 16 à 24 Go.</translation>
    </message>
    <message>
        <source>Looking for documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Recherche de documents</translation>
    </message>
    <message>
        <source>Looking for models on this machine.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Recherche de modèles sur cet ordinateur.</translation>
    </message>
    <message>
        <source>Low</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Faible</translation>
    </message>
    <message>
        <source>Low confidence. Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Confiance faible. Cliquez pour écouter.</translation>
    </message>
    <message>
        <source>Low confidence: {why}</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Confiance faible&#xa0;: {why}</translation>
    </message>
    <message>
        <source>Make an audiobook</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>Créer un livre audio</translation>
    </message>
    <message>
        <source>Male voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Voix masculine</translation>
    </message>
    <message>
        <source>Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>Match case</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Respecter la casse</translation>
    </message>
    <message>
        <source>Maximum length</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Longueur maximale</translation>
    </message>
    <message>
        <source>Medium</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Moyen</translation>
    </message>
    <message>
        <source>Memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Mémoire</translation>
    </message>
    <message>
        <source>Memory</source>
        <comment>facts</comment>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Mémoire des faits</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Limite de mémoire</translation>
    </message>
    <message>
        <source>Merge with the next segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Fusionner avec le segment suivant</translation>
    </message>
    <message>
        <source>Message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Message</translation>
    </message>
    <message>
        <source>Min P</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Min P</translation>
    </message>
    <message>
        <source>Model</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/model_box.py, app/gui/models/remote_form.py, app/gui/server/pane.py</extracomment>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Model folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Dossiers de modèles</translation>
    </message>
    <message>
        <source>Model for this conversation</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Modèle pour cette conversation</translation>
    </message>
    <message>
        <source>Model lists</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Listes de modèles</translation>
    </message>
    <message>
        <source>Model to use</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Modèle à utiliser</translation>
    </message>
    <message>
        <source>Models</source>
        <extracomment>app/gui/models/pane.py, app/gui/pane.py</extracomment>
        <translation>Modèles</translation>
    </message>
    <message>
        <source>Models on this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Modèles sur cet ordinateur</translation>
    </message>
    <message>
        <source>Models run on {backend}, {device}, and may use {allowed} of {memory}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Les modèles s’exécutent sur {backend}, {device}, et peuvent utiliser {allowed} sur {memory}.</translation>
    </message>
    <message>
        <source>Models, shared with other programs</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Modèles, partagés avec d’autres programmes</translation>
    </message>
    <message>
        <source>Move to</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Déplacer vers</translation>
    </message>
    <message>
        <source>Multi-token prediction (MTP)</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>Prédiction multi-token (MTP)</translation>
    </message>
    <message>
        <source>N-grams of the conversation</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>N-grammes de la conversation</translation>
    </message>
    <message>
        <source>NVIDIA GPU</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>GPU NVIDIA</translation>
    </message>
    <message>
        <source>Name</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/models/remote_form.py, app/gui/settings/tools.py</extracomment>
        <translation>Nom</translation>
    </message>
    <message>
        <source>Name of the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Nom de la voix</translation>
    </message>
    <message>
        <source>Name to save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Nom du préréglage à enregistrer</translation>
    </message>
    <message>
        <source>Names and terms, separated by commas. Listen, Talk and dictation spell them like this.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Noms et termes, séparés par des virgules. Écouter, Conversation vocale et la dictée les écrivent ainsi.</translation>
    </message>
    <message>
        <source>Needs about {needed} of {has}. Its experts can stay in the file: replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Demande environ {needed} sur {has}. Ses experts peuvent rester dans le fichier : les réponses sont aussi lentes que le disque.</translation>
    </message>
    <message>
        <source>Needs about {needed}; models may use {has}. Raise the memory limit in Settings.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Nécessite environ {needed}&#xa0;; les modèles peuvent utiliser {has}. Augmentez la limite de mémoire dans les Paramètres.</translation>
    </message>
    <message>
        <source>Network</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Réseau</translation>
    </message>
    <message>
        <source>Never</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Jamais</translation>
    </message>
    <message>
        <source>Never allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Ne jamais autoriser</translation>
    </message>
    <message>
        <source>New conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py, app/gui/chat/pane.py</extracomment>
        <translation>Nouvelle conversation</translation>
    </message>
    <message>
        <source>New conversation in this project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nouvelle conversation dans ce projet</translation>
    </message>
    <message>
        <source>New line</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nouvelle ligne</translation>
    </message>
    <message>
        <source>New project</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/projects.py</extracomment>
        <translation>Nouveau projet</translation>
    </message>
    <message>
        <source>New project…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nouveau projet…</translation>
    </message>
    <message>
        <source>New voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Nouvelle voix</translation>
    </message>
    <message>
        <source>Next branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Branche suivante</translation>
    </message>
    <message>
        <source>Next conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Conversation suivante</translation>
    </message>
    <message>
        <source>Next document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Document suivant</translation>
    </message>
    <message>
        <source>Next library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Bibliothèque suivante</translation>
    </message>
    <message>
        <source>Next match (Enter)</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>Résultat suivant (Entrée)</translation>
    </message>
    <message>
        <source>Next message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Message suivant</translation>
    </message>
    <message>
        <source>Next page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Page suivante</translation>
    </message>
    <message>
        <source>Next recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Enregistrement suivant</translation>
    </message>
    <message>
        <source>Next region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Zone suivante</translation>
    </message>
    <message>
        <source>Next version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Version suivante</translation>
    </message>
    <message>
        <source>Next version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Version suivante de l’aperçu</translation>
    </message>
    <message>
        <source>No active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Aucune requête en cours.</translation>
    </message>
    <message>
        <source>No errors so far.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Aucune erreur pour l’instant.</translation>
    </message>
    <message>
        <source>No loudspeaker was found. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Aucun haut-parleur trouvé. Connectez-en un, puis relancez la lecture.</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Aucun micro trouvé. Connectez-en un, puis réessayez.</translation>
    </message>
    <message>
        <source>No model is loaded. Grus uses {whole}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Aucun modèle chargé. Grus utilise {whole}.</translation>
    </message>
    <message>
        <source>No model that reads images is installed. Download one in Models, for example PaddlePaddle/PaddleOCR-VL.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Aucun modèle capable de lire des images n’est installé. Téléchargez-en un dans Modèles, par exemple PaddlePaddle/PaddleOCR-VL.</translation>
    </message>
    <message>
        <source>No model that tells speakers apart is installed. Download one in Models, for example mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Aucun modèle qui distingue les locuteurs n’est installé. Téléchargez-en un dans Modèles, par exemple mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</translation>
    </message>
    <message>
        <source>No model yet</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Aucun modèle</translation>
    </message>
    <message>
        <source>No model yet. Recommended lists some that fit.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Aucun modèle pour l’instant. «&#xa0;Recommandés&#xa0;» en propose d’adaptés.</translation>
    </message>
    <message>
        <source>No places were found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>Aucune position trouvée dans la sortie du modèle.</translation>
    </message>
    <message>
        <source>No project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Aucun projet</translation>
    </message>
    <message>
        <source>No results for {words} on Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Aucun résultat pour {words} sur Hugging Face.</translation>
    </message>
    <message>
        <source>No results for {words}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Aucun résultat pour {words}.</translation>
    </message>
    <message>
        <source>No results.</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/palette.py, app/gui/viewmodels/chat/find.py</extracomment>
        <translation>Aucun résultat.</translation>
    </message>
    <message>
        <source>No search and no downloads, and the server does not fetch images. Models on this machine keep working.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Aucune recherche ni aucun téléchargement, et le serveur ne récupère pas d’images. Les modèles de cet ordinateur continuent de fonctionner.</translation>
    </message>
    <message>
        <source>No shortcut</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Aucun raccourci</translation>
    </message>
    <message>
        <source>No speech recognition model is installed. Download one in Models, for example UsefulSensors/moonshine-base.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Aucun modèle de reconnaissance vocale n’est installé. Téléchargez-en un dans Modèles, par exemple UsefulSensors/moonshine-base.</translation>
    </message>
    <message>
        <source>No table was found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>Aucun tableau trouvé dans la sortie du modèle.</translation>
    </message>
    <message>
        <source>No table was found in {title}. Choose another format.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Aucun tableau trouvé dans {title}. Choisissez un autre format.</translation>
    </message>
    <message>
        <source>No text was found in {name}.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>Aucun texte trouvé dans {name}.</translation>
    </message>
    <message>
        <source>No text-to-speech model is installed. Download one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Aucun modèle de synthèse vocale n’est installé. Téléchargez-en un dans Modèles, par exemple Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</translation>
    </message>
    <message>
        <source>No tool server that is on has a prompt.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Aucun serveur d’outils actif n’a de prompt.</translation>
    </message>
    <message>
        <source>No tool server that is on has a resource.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Aucun serveur d’outils actif n’a de ressource.</translation>
    </message>
    <message>
        <source>No voice yet</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Aucune voix</translation>
    </message>
    <message>
        <source>None. For example https://app.example</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Aucune. Par exemple https://app.example</translation>
    </message>
    <message>
        <source>Not complete</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Incomplète</translation>
    </message>
    <message>
        <source>Not now</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>Pas maintenant</translation>
    </message>
    <message>
        <source>Not stated. Check with the publisher before you use it.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Non indiquée. Vérifiez auprès de l’éditeur avant de l’utiliser.</translation>
    </message>
    <message>
        <source>Nothing</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Rien</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Rien n’a été trouvé.</translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/server/pane.py, app/gui/viewmodels/read_watch.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Désactivé</translation>
    </message>
    <message>
        <source>OmniVoice has no voices by name: describe one, or clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py</extracomment>
        <translation>OmniVoice n’a pas de voix nommées : décrivez-en une, ou clonez-en une à partir d’un enregistrement.</translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Activé</translation>
    </message>
    <message>
        <source>On disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Sur le disque</translation>
    </message>
    <message>
        <source>On other machines</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Sur d’autres machines</translation>
    </message>
    <message>
        <source>On this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Sur cet ordinateur</translation>
    </message>
    <message>
        <source>Once a day at most. Only the version of this Grus is sent.</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Une fois par jour au plus. Seule la version de ce Grus est envoyée.</translation>
    </message>
    <message>
        <source>One chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Un graphique</translation>
    </message>
    <message>
        <source>One file per chapter</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Un fichier par chapitre</translation>
    </message>
    <message>
        <source>One formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Une formule</translation>
    </message>
    <message>
        <source>One line per request, without its content.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Une ligne par requête, sans son contenu.</translation>
    </message>
    <message>
        <source>One moment. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Un instant. Échap pour terminer.</translation>
    </message>
    <message>
        <source>One seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Un cachet</translation>
    </message>
    <message>
        <source>One table</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Un tableau</translation>
    </message>
    <message>
        <source>Only PDFs and images become a searchable PDF. Choose another format.</source>
        <extracomment>engine/pipelines/reading/writers.py</extracomment>
        <translation>Seuls les PDF et les images deviennent un PDF interrogeable. Choisissez un autre format.</translation>
    </message>
    <message>
        <source>Only if the server does not list it</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Seulement si le serveur ne l’indique pas</translation>
    </message>
    <message>
        <source>Only the first {rows} rows are read.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>Seules les {rows} premières lignes sont lues.</translation>
    </message>
    <message>
        <source>Only {free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Seulement {free} disponibles.</translation>
    </message>
    <message>
        <source>Open</source>
        <extracomment>app/gui/pane.py</extracomment>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Open at login</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Ouvrir à l’ouverture de session</translation>
    </message>
    <message>
        <source>Open in the browser</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Ouvrir dans le navigateur</translation>
    </message>
    <message>
        <source>Open link</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Ouvrir le lien</translation>
    </message>
    <message>
        <source>Open text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Ouvrir un texte</translation>
    </message>
    <message>
        <source>Open the browser</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ouvrir le navigateur</translation>
    </message>
    <message>
        <source>Open the conversation: {title}</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Ouvrir la conversation : {title}</translation>
    </message>
    <message>
        <source>Opening</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Ouverture</translation>
    </message>
    <message>
        <source>Or paste the JSON of Claude Desktop, Cursor, LM Studio or VS Code</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ou collez le JSON de Claude Desktop, Cursor, LM Studio ou VS Code</translation>
    </message>
    <message>
        <source>Orpheus has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus n’a pas de voix {name}. Voix disponibles&#xa0;: {voices}.</translation>
    </message>
    <message>
        <source>Orpheus has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus a ses propres voix et n’en clone pas. Pour cloner, choisissez un modèle Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>Orpheus speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus parle anglais, pas {language}.</translation>
    </message>
    <message>
        <source>Orpheus takes no instructions; it supports tags in the text: {tags}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus n’accepte pas d’instructions&#xa0;; il prend en charge des balises dans le texte&#xa0;: {tags}.</translation>
    </message>
    <message>
        <source>Other data</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Autres données</translation>
    </message>
    <message>
        <source>Other machines can reach the server on port {port}, with a key.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>D’autres ordinateurs peuvent accéder au serveur sur le port {port}, avec une clé.</translation>
    </message>
    <message>
        <source>Other machines may only connect with a key. Create one first.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>Les autres ordinateurs ne peuvent se connecter qu’avec une clé. Créez-en une d’abord.</translation>
    </message>
    <message>
        <source>Other machines too</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Également d’autres ordinateurs</translation>
    </message>
    <message>
        <source>Other models</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>Autres modèles</translation>
    </message>
    <message>
        <source>Output</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Sortie</translation>
    </message>
    <message>
        <source>Own words</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Mots personnels</translation>
    </message>
    <message>
        <source>Own words are at most {most}, of {longest} characters each.</source>
        <extracomment>engine/pipelines/listening/glossary.py</extracomment>
        <translation>Il peut y avoir au plus {most} mots personnels, de {longest} caractères chacun.</translation>
    </message>
    <message>
        <source>PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Pace</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Débit</translation>
    </message>
    <message>
        <source>Packed weights</source>
        <extracomment>app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Poids compactés</translation>
    </message>
    <message>
        <source>Page number</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Numéro de page</translation>
    </message>
    <message>
        <source>Page {number} of the PDF cannot be drawn.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La page {number} du PDF ne peut pas être affichée.</translation>
    </message>
    <message>
        <source>Page {number} of the PDF is damaged.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La page {number} du PDF est endommagée.</translation>
    </message>
    <message>
        <source>Page {n} of {total}</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Page {n} sur {total}</translation>
    </message>
    <message>
        <source>Pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Pages</translation>
    </message>
    <message>
        <source>Pages are named like 1-3,5 or 7-, not {text}.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Indiquez les pages sous la forme 1-3,5 ou 7-, pas {text}.</translation>
    </message>
    <message>
        <source>Pages, such as 1-3,5 or 7-</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Pages, par exemple 1-3,5 ou 7-</translation>
    </message>
    <message>
        <source>Panes</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Volets</translation>
    </message>
    <message>
        <source>Passages</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Passages</translation>
    </message>
    <message>
        <source>Password</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Mot de passe</translation>
    </message>
    <message>
        <source>Password-protected</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Protégé par mot de passe</translation>
    </message>
    <message>
        <source>Paste image</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Coller une image</translation>
    </message>
    <message>
        <source>Paste it, and press Enter</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Collez-le et appuyez sur Entrée</translation>
    </message>
    <message>
        <source>Paste your Hugging Face token, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Collez votre jeton Hugging Face, puis appuyez sur Entrée</translation>
    </message>
    <message>
        <source>Pasted picture</source>
        <extracomment>app/gui/chat/composer.py, app/gui/read/pane.py</extracomment>
        <translation>Image collée</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Texte collé</translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Suspendre</translation>
    </message>
    <message>
        <source>Pause or resume</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Suspendre ou reprendre</translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>En pause</translation>
    </message>
    <message>
        <source>Paused after {done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>En pause après {done} fichiers sur {total}</translation>
    </message>
    <message>
        <source>Paused at {how_far}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>En pause à {how_far}</translation>
    </message>
    <message>
        <source>Permission of {tool}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Autorisation de {tool}</translation>
    </message>
    <message>
        <source>Picture</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Image</translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Épingler</translation>
    </message>
    <message>
        <source>Pin or unpin the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Épingler ou désépingler la conversation</translation>
    </message>
    <message>
        <source>Pinned</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Épinglées</translation>
    </message>
    <message>
        <source>Pitch</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Hauteur</translation>
    </message>
    <message>
        <source>Play</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>Lire</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Lire ou suspendre</translation>
    </message>
    <message>
        <source>Play segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Lire le segment</translation>
    </message>
    <message>
        <source>Play the voice sample</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Écouter un extrait de la voix</translation>
    </message>
    <message>
        <source>Pocket-TTS takes no instructions. Its voices are recordings.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Pocket-TTS n’accepte pas d’instructions. Ses voix sont des enregistrements.</translation>
    </message>
    <message>
        <source>Port</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Port</translation>
    </message>
    <message>
        <source>Precise</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Précis</translation>
    </message>
    <message>
        <source>Preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Préréglage</translation>
    </message>
    <message>
        <source>Press Enter, then the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Entrée, puis les touches</translation>
    </message>
    <message>
        <source>Press the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Appuyez sur les touches</translation>
    </message>
    <message>
        <source>Preview</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Aperçu</translation>
    </message>
    <message>
        <source>Preview the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Aperçu du dernier code</translation>
    </message>
    <message>
        <source>Previous branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Branche précédente</translation>
    </message>
    <message>
        <source>Previous conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Conversation précédente</translation>
    </message>
    <message>
        <source>Previous document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Document précédent</translation>
    </message>
    <message>
        <source>Previous library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Bibliothèque précédente</translation>
    </message>
    <message>
        <source>Previous match (Shift+Enter)</source>
        <extracomment>app/gui/chat/find_bar.py</extracomment>
        <translation>Résultat précédent (Maj+Entrée)</translation>
    </message>
    <message>
        <source>Previous message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Message précédent</translation>
    </message>
    <message>
        <source>Previous page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Page précédente</translation>
    </message>
    <message>
        <source>Previous recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Enregistrement précédent</translation>
    </message>
    <message>
        <source>Previous region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Zone précédente</translation>
    </message>
    <message>
        <source>Previous version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Version précédente</translation>
    </message>
    <message>
        <source>Previous version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Version précédente de l’aperçu</translation>
    </message>
    <message>
        <source>Privacy</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Confidentialité</translation>
    </message>
    <message>
        <source>Programs must send one of these keys. Without keys, every program on this machine can connect.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Les programmes doivent envoyer une de ces clés. Sans clé, tout programme de cet ordinateur peut se connecter.</translation>
    </message>
    <message>
        <source>Progress of the download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/models/pane.py</extracomment>
        <translation>Progression du téléchargement</translation>
    </message>
    <message>
        <source>Project settings</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Paramètres du projet</translation>
    </message>
    <message>
        <source>Project settings…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Paramètres du projet…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Pronunciations</source>
        <extracomment>app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Prononciations</translation>
    </message>
    <message>
        <source>Python in a sandbox needs Linux on x86-64 or ARM64.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python dans un bac à sable nécessite Linux sur x86-64 ou ARM64.</translation>
    </message>
    <message>
        <source>Python in a sandbox needs a Python on this machine. Install the package python3 of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python dans un bac à sable nécessite un Python sur cette machine. Installez le paquet python3 de votre système.</translation>
    </message>
    <message>
        <source>Python in a sandbox needs bubblewrap. Install the package bubblewrap of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python dans un bac à sable nécessite bubblewrap. Installez le paquet bubblewrap de votre système.</translation>
    </message>
    <message>
        <source>Python sandbox</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Bac à sable Python</translation>
    </message>
    <message>
        <source>Queued. It is sent when the reply has ended.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>En attente. Envoyé dès que la réponse est terminée.</translation>
    </message>
    <message>
        <source>Quit Grus</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Quitter Grus</translation>
    </message>
    <message>
        <source>Read</source>
        <extracomment>app/gui/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Lire</translation>
    </message>
    <message>
        <source>Read again</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Relire</translation>
    </message>
    <message>
        <source>Read documents</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Lire des documents</translation>
    </message>
    <message>
        <source>Read tables, formulas and scans in many languages: a model for documents.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Lire des tableaux, des formules et des numérisations dans de nombreuses langues : un modèle pour les documents.</translation>
    </message>
    <message>
        <source>Read the text</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>Lire le texte</translation>
    </message>
    <message>
        <source>Reading</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Lecture en cours</translation>
    </message>
    <message>
        <source>Reading failed inside: {kind}: {error}</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>Erreur interne pendant la lecture&#xa0;: {kind}&#xa0;: {error}</translation>
    </message>
    <message>
        <source>Reading the conversation: {share}.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Lecture de la conversation&#xa0;: {share}.</translation>
    </message>
    <message>
        <source>Reading the file.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Lecture du fichier.</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>Lecture de {name}</translation>
    </message>
    <message>
        <source>Reading {n} tokens.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Lecture de {n} tokens.</translation>
    </message>
    <message>
        <source>Reads files in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Lit les fichiers des dossiers que vous choisissez.</translation>
    </message>
    <message>
        <source>Reads pages of the web. Their addresses leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Lit des pages web. Leurs adresses quittent cet ordinateur.</translation>
    </message>
    <message>
        <source>Reads pages: text, tables, formulas and charts in 109 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lit des pages&#xa0;: texte, tableaux, formules et graphiques en 109 langues.</translation>
    </message>
    <message>
        <source>Reads text aloud in ten languages, with nine voices.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lit des textes à voix haute en dix langues, avec neuf voix.</translation>
    </message>
    <message>
        <source>Reads text aloud on any machine, in English and five other languages. It needs the program espeak-ng.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lit un texte à voix haute sur n&apos;importe quelle machine, en anglais et dans cinq autres langues. Il lui faut le programme espeak-ng.</translation>
    </message>
    <message>
        <source>Reasoning</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/panel.py, app/gui/chat/talk_bar.py, app/gui/sampling_fields.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Raisonnement</translation>
    </message>
    <message>
        <source>Reasoning and tools at the speed of a small model: 3.6 of 21 billion parameters are active per token. For 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Raisonnement et outils à la vitesse d’un petit modèle&#xa0;: 3,6 milliards de paramètres sur 21 sont actifs par token. Pour 24 Go.</translation>
    </message>
    <message>
        <source>Reasoning limit</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Limite de raisonnement</translation>
    </message>
    <message>
        <source>Reasoning, code and tools, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Raisonnement, code et outils, pour les ordinateurs avec 16 Go.</translation>
    </message>
    <message numerus="yes">
        <source>Reasoning, {n} words</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>Raisonnement, {n} mot</numerusform>
            <numerusform>Raisonnement, {n} mots</numerusform>
        </translation>
    </message>
    <message>
        <source>Recognizes more detail, reads small print and longer documents.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Reconnaît plus de détails, lit les petits caractères et les documents plus longs.</translation>
    </message>
    <message>
        <source>Recommended</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Recommandés</translation>
    </message>
    <message>
        <source>Record</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Enregistrer</translation>
    </message>
    <message>
        <source>Record from the microphone</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Enregistrer avec le micro</translation>
    </message>
    <message>
        <source>Recording {time}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>Enregistrement {time}</translation>
    </message>
    <message>
        <source>Recording: {time}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Enregistrement&#xa0;: {time}</translation>
    </message>
    <message>
        <source>Recordings</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Enregistrements</translation>
    </message>
    <message>
        <source>Redo</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Rétablir</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Réduire les animations</translation>
    </message>
    <message>
        <source>Refresh</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Actualiser</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Régénérer</translation>
    </message>
    <message>
        <source>Remember facts for all conversations</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Retenir des faits pour toutes les conversations</translation>
    </message>
    <message>
        <source>Remote</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Distant</translation>
    </message>
    <message>
        <source>Remove</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>Supprimer</translation>
    </message>
    <message>
        <source>Remove from the list</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Retirer de la liste</translation>
    </message>
    <message>
        <source>Remove the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Retirer la bibliothèque</translation>
    </message>
    <message>
        <source>Remove the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Retirer le projet</translation>
    </message>
    <message>
        <source>Remove the token</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Supprimer le jeton</translation>
    </message>
    <message>
        <source>Remove {folder}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Retirer {folder}</translation>
    </message>
    <message>
        <source>Remove {folder} from the list</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Retirer {folder} de la liste</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <extracomment>app/gui/chat/composer.py, app/gui/settings/tools.py</extracomment>
        <translation>Retirer {name}</translation>
    </message>
    <message>
        <source>Removing.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Suppression en cours.</translation>
    </message>
    <message>
        <source>Rename</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Renommer</translation>
    </message>
    <message>
        <source>Rename in the whole recording</source>
        <extracomment>app/gui/listen/pane.py, app/gui/listen/speakers.py</extracomment>
        <translation>Renommer dans tout l’enregistrement</translation>
    </message>
    <message>
        <source>Rename the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Renommer la conversation</translation>
    </message>
    <message>
        <source>Rename the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Renommer le projet</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Pénalité de répétition</translation>
    </message>
    <message>
        <source>Replace all</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Tout remplacer</translation>
    </message>
    <message>
        <source>Replace with</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Remplacer par</translation>
    </message>
    <message>
        <source>Replicas</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Réplicas</translation>
    </message>
    <message>
        <source>Replies are generated on this machine.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Les réponses sont générées sur cet ordinateur.</translation>
    </message>
    <message>
        <source>Reply</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Réponse</translation>
    </message>
    <message>
        <source>Reply of {model}</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Réponse de {model}</translation>
    </message>
    <message>
        <source>Repository</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Dépôt</translation>
    </message>
    <message>
        <source>Requires</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Nécessite</translation>
    </message>
    <message>
        <source>Reranking</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Reclassement</translation>
    </message>
    <message>
        <source>Resources</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Ressources</translation>
    </message>
    <message>
        <source>Restart Grus</source>
        <extracomment>app/gui/settings/cuda_pack.py, app/gui/settings/speculation.py</extracomment>
        <translation>Redémarrer Grus</translation>
    </message>
    <message>
        <source>Result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Résultat</translation>
    </message>
    <message>
        <source>Results</source>
        <extracomment>app/gui/palette.py, app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Résultats</translation>
    </message>
    <message>
        <source>Resume</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Reprendre</translation>
    </message>
    <message>
        <source>Resume the audiobook</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Reprendre le livre audio</translation>
    </message>
    <message>
        <source>Retry</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>Retry now. Grus also retries automatically.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Réessayer maintenant. Grus réessaie aussi automatiquement.</translation>
    </message>
    <message>
        <source>Reuse the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Réutiliser le texte</translation>
    </message>
    <message>
        <source>Rotate the page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Faire pivoter la page</translation>
    </message>
    <message>
        <source>Run in the sandbox</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Exécuter dans le bac à sable</translation>
    </message>
    <message>
        <source>Run or open the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exécuter ou ouvrir l’aperçu</translation>
    </message>
    <message>
        <source>Running on {address}</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>En service sur {address}</translation>
    </message>
    <message>
        <source>Running the code.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Exécution du code.</translation>
    </message>
    <message>
        <source>Runs Python without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Exécute du Python sans réseau et sans vos fichiers, avec des limites de temps et de mémoire.</translation>
    </message>
    <message>
        <source>Runs on</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Fonctionne avec</translation>
    </message>
    <message>
        <source>Sample only from the most likely tokens that together have this probability.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Ne tire que parmi les tokens les plus probables dont la probabilité cumulée atteint cette valeur.</translation>
    </message>
    <message>
        <source>Sample only from this many of the most likely tokens. 0: all.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Ne tire que parmi ce nombre de tokens les plus probables. 0&#xa0;: tous.</translation>
    </message>
    <message>
        <source>Sampling</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Échantillonnage</translation>
    </message>
    <message>
        <source>Save</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Enregistrer</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Enregistrer comme préréglage</translation>
    </message>
    <message>
        <source>Save audio</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Enregistrer l’audio</translation>
    </message>
    <message>
        <source>Save now</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Enregistrer maintenant</translation>
    </message>
    <message>
        <source>Save the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Enregistrer la voix</translation>
    </message>
    <message>
        <source>Save to</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Enregistrer dans</translation>
    </message>
    <message>
        <source>Saved as {file}.</source>
        <extracomment>app/gui/pane.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>Enregistré sous {file}.</translation>
    </message>
    <message>
        <source>Say something. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Dites quelque chose. Échap pour terminer.</translation>
    </message>
    <message>
        <source>Say what is spoken in the recording, or clone the voice&apos;s colour alone.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Indiquez ce qui est dit dans l’enregistrement, ou clonez seulement le timbre de la voix.</translation>
    </message>
    <message>
        <source>Scaled down from {width} x {height} to {less} x {lower} pixels.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Réduite de {width} × {height} à {less} × {lower} pixels.</translation>
    </message>
    <message>
        <source>Screen capture</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Capture d’écran</translation>
    </message>
    <message>
        <source>Seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Cachet</translation>
    </message>
    <message>
        <source>Search</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Rechercher</translation>
    </message>
    <message>
        <source>Search Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Rechercher sur Hugging Face</translation>
    </message>
    <message>
        <source>Search Hugging Face, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Rechercher sur Hugging Face, puis Entrée</translation>
    </message>
    <message>
        <source>Search in all conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>Rechercher dans toutes les conversations</translation>
    </message>
    <message>
        <source>Search in the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Rechercher dans la bibliothèque</translation>
    </message>
    <message>
        <source>Searches the libraries in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Recherche dans les bibliothèques des dossiers que vous choisissez.</translation>
    </message>
    <message>
        <source>Searches the web through an address of yours: SearXNG, or Brave with a key. Queries leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Cherche sur le web via une adresse à vous : SearXNG, ou Brave avec une clé. Les requêtes quittent cet ordinateur.</translation>
    </message>
    <message>
        <source>Searching Hugging Face for {words}.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Recherche de {words} sur Hugging Face.</translation>
    </message>
    <message>
        <source>Searching your documents.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Recherche dans vos documents.</translation>
    </message>
    <message>
        <source>See what is installed, or download a recommended model that fits.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Voyez ce qui est installé, ou téléchargez un modèle recommandé adapté.</translation>
    </message>
    <message>
        <source>Seed</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Graine</translation>
    </message>
    <message>
        <source>Send</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Envoyer</translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Envoyer (Entrée)</translation>
    </message>
    <message>
        <source>Separate origins with commas. * allows all.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Séparez les origines par des virgules. * les autorise toutes.</translation>
    </message>
    <message>
        <source>Server</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Serveur</translation>
    </message>
    <message>
        <source>Settings</source>
        <extracomment>app/gui/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Paramètres</translation>
    </message>
    <message>
        <source>Settings of this conversation</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Paramètres de cette conversation</translation>
    </message>
    <message>
        <source>Settings of {name}</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Paramètres de {name}</translation>
    </message>
    <message>
        <source>Settings say to work offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>Les paramètres demandent de travailler hors ligne</translation>
    </message>
    <message>
        <source>Several draft tokens are verified in one step. Replies come sooner and stay the same.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Plusieurs tokens d’ébauche sont vérifiés en une étape. Les réponses arrivent plus tôt et restent les mêmes.</translation>
    </message>
    <message>
        <source>Shortened to {n} characters.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>Raccourci à {n} caractères.</translation>
    </message>
    <message>
        <source>Show</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Afficher</translation>
    </message>
    <message>
        <source>Show Grus</source>
        <extracomment>app/gui/desktop.py, app/gui/hotkey.py</extracomment>
        <translation>Afficher Grus</translation>
    </message>
    <message numerus="yes">
        <source>Show all, {n} lines</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>Tout afficher, {n} ligne</numerusform>
            <numerusform>Tout afficher, {n} lignes</numerusform>
        </translation>
    </message>
    <message>
        <source>Show data folder</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Afficher le dossier de données</translation>
    </message>
    <message>
        <source>Show folder</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Afficher le dossier</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Afficher dans le dossier</translation>
    </message>
    <message>
        <source>Show less</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Afficher moins</translation>
    </message>
    <message>
        <source>Show me</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Me montrer</translation>
    </message>
    <message>
        <source>Show on Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Afficher sur Hugging Face</translation>
    </message>
    <message>
        <source>Show or hide reasoning</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Afficher ou masquer le raisonnement</translation>
    </message>
    <message>
        <source>Show reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Afficher le raisonnement</translation>
    </message>
    <message>
        <source>Show the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Afficher l’appel</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Afficher le dossier</translation>
    </message>
    <message>
        <source>Show the log</source>
        <extracomment>app/gui/settings/pane.py, app/gui/window.py</extracomment>
        <translation>Afficher le journal</translation>
    </message>
    <message>
        <source>Show the log of {name}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Afficher le journal de {name}</translation>
    </message>
    <message>
        <source>Show tokens and time under replies</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Afficher les tokens et le temps sous les réponses</translation>
    </message>
    <message>
        <source>Show tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Afficher les outils</translation>
    </message>
    <message>
        <source>Show under every reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Afficher sous chaque réponse</translation>
    </message>
    <message>
        <source>Show {what}</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Afficher&#xa0;: {what}</translation>
    </message>
    <message>
        <source>Side note</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Note en marge</translation>
    </message>
    <message>
        <source>Sign in</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Se connecter</translation>
    </message>
    <message>
        <source>Sign in at {host} in your browser. Grus waits for the answer.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Connectez-vous à {host} dans votre navigateur. Grus attend la réponse.</translation>
    </message>
    <message>
        <source>Sign out</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Se déconnecter</translation>
    </message>
    <message>
        <source>Simple conversations in many languages with little memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Conversations simples dans de nombreuses langues avec peu de mémoire.</translation>
    </message>
    <message>
        <source>Simple conversations, tools and code, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Conversations simples, outils et code, pour les ordinateurs avec 16 Go.</translation>
    </message>
    <message>
        <source>Small and fast, in many languages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Petit et rapide, dans de nombreuses langues. Raisonnement facultatif.</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Texte plus petit</translation>
    </message>
    <message>
        <source>Snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Extrait de code</translation>
    </message>
    <message>
        <source>Something is being spoken. Wait for it, or stop it.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Une lecture est en cours. Attendez, ou arrêtez-la.</translation>
    </message>
    <message>
        <source>Something went wrong inside Grus: {error}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Une erreur s’est produite dans Grus&#xa0;: {error}.</translation>
    </message>
    <message>
        <source>Sorts the passages of a search by how well they answer the question.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Trie les passages d&apos;une recherche selon leur pertinence pour la question.</translation>
    </message>
    <message>
        <source>Spark-TTS has no voice {name}. It has: female, male.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS n’a pas de voix {name}. Voix disponibles&#xa0;: female, male.</translation>
    </message>
    <message>
        <source>Spark-TTS speaks Chinese and English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS parle chinois et anglais, pas {language}.</translation>
    </message>
    <message>
        <source>Spark-TTS takes no instructions for a cloned voice: pitch and speed are the recording&apos;s.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS n’accepte pas d’instructions pour une voix clonée&#xa0;: la hauteur et la vitesse sont celles de l’enregistrement.</translation>
    </message>
    <message>
        <source>Speak</source>
        <extracomment>app/gui/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Parler</translation>
    </message>
    <message>
        <source>Speak the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Lire le texte à voix haute</translation>
    </message>
    <message>
        <source>Speak to interrupt the voice.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Parlez pour interrompre la voix.</translation>
    </message>
    <message>
        <source>Speaker {number}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>Locuteur {number}</translation>
    </message>
    <message>
        <source>Speakers</source>
        <extracomment>app/gui/listen/speakers.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Locuteurs</translation>
    </message>
    <message>
        <source>Speakers whom you name in Listen are named in the next recording, where a model that recognizes voices is installed. What is kept of a voice are numbers, on this machine only.</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Les personnes que vous nommez dans Écouter sont nommées dans l’enregistrement suivant si un modèle qui reconnaît les voix est installé. D’une voix, seuls des nombres sont conservés, sur cette machine uniquement.</translation>
    </message>
    <message>
        <source>Speaking</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Parole en cours</translation>
    </message>
    <message>
        <source>Speaking style: cheerful, slow, slightly hoarse</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Style&#xa0;: enjoué, lent, légèrement rauque</translation>
    </message>
    <message>
        <source>Speaks 600 languages, in a voice that you describe or in that of a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Parle 600 langues, avec une voix que vous décrivez ou celle d’un enregistrement.</translation>
    </message>
    <message>
        <source>Speaks English, in the voice of a recording of a few seconds, and as expressively as you choose.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Parle anglais, avec la voix d’un enregistrement de quelques secondes, et de façon aussi expressive que vous le choisissez.</translation>
    </message>
    <message>
        <source>Speculative decoding</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Décodage spéculatif</translation>
    </message>
    <message>
        <source>Speech</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Synthèse vocale</translation>
    </message>
    <message>
        <source>Speed</source>
        <extracomment>app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Vitesse</translation>
    </message>
    <message>
        <source>Split here</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Diviser ici</translation>
    </message>
    <message>
        <source>Start or stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Démarrer ou arrêter le serveur</translation>
    </message>
    <message>
        <source>Start server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Démarrer le serveur</translation>
    </message>
    <message>
        <source>Starting</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Démarrage</translation>
    </message>
    <message>
        <source>Starting the tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Démarrage des outils.</translation>
    </message>
    <message>
        <source>Starting {name}.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Démarrage de {name}.</translation>
    </message>
    <message>
        <source>Status</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>État</translation>
    </message>
    <message>
        <source>Stop</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/listen/pane.py, app/gui/speak/pane.py, app/gui/window.py</extracomment>
        <translation>Arrêter</translation>
    </message>
    <message>
        <source>Stop (Esc)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Arrêter (Échap)</translation>
    </message>
    <message>
        <source>Stop dictating</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Arrêter la dictée</translation>
    </message>
    <message>
        <source>Stop recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Arrêter l’enregistrement</translation>
    </message>
    <message>
        <source>Stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Arrêter le serveur</translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Arrêter la parole</translation>
    </message>
    <message>
        <source>Stop the server to change these.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Arrêtez le serveur pour modifier ces réglages.</translation>
    </message>
    <message>
        <source>Stop transcribing</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Arrêter la transcription</translation>
    </message>
    <message>
        <source>Stopped</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/chat/preview.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Arrêté</translation>
    </message>
    <message>
        <source>Stopped after {done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Arrêté après {done} pages sur {total}</translation>
    </message>
    <message>
        <source>Subtitles (SRT)</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Sous-titres (SRT)</translation>
    </message>
    <message>
        <source>Switch between light and dark</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Basculer entre clair et sombre</translation>
    </message>
    <message>
        <source>System</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Système</translation>
    </message>
    <message>
        <source>System prompt</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Prompt système</translation>
    </message>
    <message>
        <source>System prompt and sampling</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Prompt système et échantillonnage</translation>
    </message>
    <message>
        <source>Table</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/read/document.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Tableau</translation>
    </message>
    <message>
        <source>Tags in the text control the voice: {tags}.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Des balises dans le texte contrôlent la voix&#xa0;: {tags}.</translation>
    </message>
    <message>
        <source>Takes effect after a restart of Grus.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Prend effet après un redémarrage de Grus.</translation>
    </message>
    <message>
        <source>Talk</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Conversation vocale</translation>
    </message>
    <message>
        <source>Talk needs a speech recognition model and a text-to-speech model. Download {names} here, then try again.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>La conversation vocale nécessite un modèle de reconnaissance vocale et un modèle de synthèse vocale. Téléchargez {names} ici, puis réessayez.</translation>
    </message>
    <message>
        <source>Tell speakers apart</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>Distinguer les locuteurs</translation>
    </message>
    <message>
        <source>Tells who speaks when in a recording, beside a model that transcribes: up to four speakers.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Indique qui parle et quand dans un enregistrement, à côté d’un modèle qui transcrit : jusqu’à quatre locuteurs.</translation>
    </message>
    <message>
        <source>Temperature</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Température</translation>
    </message>
    <message>
        <source>Tensor parallelism</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Parallélisme de tenseurs</translation>
    </message>
    <message>
        <source>Text</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Texte</translation>
    </message>
    <message>
        <source>Text of the segment</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>Texte du segment</translation>
    </message>
    <message>
        <source>Text only</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Texte seul</translation>
    </message>
    <message>
        <source>Text size</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Taille du texte</translation>
    </message>
    <message>
        <source>Text to speak</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Texte à lire à voix haute</translation>
    </message>
    <message>
        <source>Text with positions</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Texte avec positions</translation>
    </message>
    <message>
        <source>Texts</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Textes</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be downloaded: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Le pack CUDA ne peut pas être téléchargé : {reason}.</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be removed: {reason}. Close every Grus that uses it first.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Le pack CUDA ne peut pas être supprimé : {reason}. Fermez d’abord tous les Grus qui l’utilisent.</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be unpacked: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Le pack CUDA ne peut pas être décompressé : {reason}.</translation>
    </message>
    <message>
        <source>The CUDA pack needs {needed}, but {folder} has only {free} left. {variable} names another place.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>Le pack CUDA a besoin de {needed}, mais il ne reste que {free} dans {folder}. {variable} indique un autre emplacement.</translation>
    </message>
    <message>
        <source>The Hugging Face cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Le cache Hugging Face</translation>
    </message>
    <message>
        <source>The Hugging Face cache, shared with other programs</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Le cache Hugging Face, partagé avec d’autres programmes</translation>
    </message>
    <message>
        <source>The PDF has no pages.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Le PDF n’a pas de pages.</translation>
    </message>
    <message>
        <source>The PDF is damaged or incomplete.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Le PDF est endommagé ou incomplet.</translation>
    </message>
    <message>
        <source>The PDF is protected. Give its password.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Le PDF est protégé. Saisissez son mot de passe.</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} reads handwriting, formulas and other scripts, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader n’est pas sûr de cette page. {model} lit l’écriture manuscrite, les formules et d’autres écritures, environ {seconds} s par page pleine sur cette machine.</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} with {layout} as its layout reads other scripts and photographs, line by line.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader n’est pas sûr de cette page. {model} avec {layout} comme mise en page lit d’autres écritures et des photographies, ligne par ligne.</translation>
    </message>
    <message>
        <source>The address begins with http: others on the way can read what is sent, and the key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>L’adresse commence par http : d’autres sur le trajet peuvent lire ce qui est envoyé, et la clé.</translation>
    </message>
    <message>
        <source>The address of a search is like https://searx.example.org or http://127.0.0.1:8080.</source>
        <extracomment>app/runtime/tools/web.py</extracomment>
        <translation>L’adresse d’une recherche ressemble à https://searx.example.org ou http://127.0.0.1:8080.</translation>
    </message>
    <message>
        <source>The best reasoning and code of its size, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Le meilleur raisonnement et le meilleur code de sa taille, pour 32 Go de mémoire rapide.</translation>
    </message>
    <message>
        <source>The certificate of {name} at {host} is not valid.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Le certificat de {name} sur {host} n’est pas valide.</translation>
    </message>
    <message>
        <source>The chat model in memory corrects punctuation, capitals, filler words and slips. Without one, the text is typed as it was spoken. The last texts as they were spoken are kept here until Grus is closed.</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Le modèle de chat chargé corrige la ponctuation, les majuscules, les mots de remplissage et les lapsus. Sans lui, le texte est saisi tel qu’il a été dit. Les derniers textes tels qu’ils ont été dits restent ici jusqu’à la fermeture de Grus.</translation>
    </message>
    <message>
        <source>The chat template of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Le modèle de discussion (chat template) de ce modèle est inutilisable.</translation>
    </message>
    <message>
        <source>The clipboard contains no image and no file.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Le presse-papiers ne contient ni image ni fichier.</translation>
    </message>
    <message>
        <source>The configuration of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>La configuration de ce modèle est inutilisable.</translation>
    </message>
    <message>
        <source>The date, the day of the week and the time.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>La date, le jour de la semaine et l’heure.</translation>
    </message>
    <message>
        <source>The desktop did not give the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>L’environnement de bureau n’a pas accordé le raccourci. Videz le champ et appuyez de nouveau sur les touches.</translation>
    </message>
    <message>
        <source>The desktop ended the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>L’environnement de bureau a retiré le raccourci. Videz le champ et appuyez de nouveau sur les touches.</translation>
    </message>
    <message>
        <source>The disk has too little room for what is in this archive.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Le disque n’a pas assez de place pour le contenu de cette archive.</translation>
    </message>
    <message>
        <source>The disk is full, so {repo} could not be downloaded to its end{where}. What arrived is kept: make room, and download it again to continue.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Le disque est plein&#xa0;: le téléchargement de {repo} n’a pas pu se terminer{where}. Ce qui est arrivé est conservé&#xa0;: libérez de l’espace et relancez le téléchargement pour continuer.</translation>
    </message>
    <message>
        <source>The download of {name} was interrupted. Start it again: it continues from there.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Le téléchargement de {name} a été interrompu. Relancez-le : il reprend où il s’est arrêté.</translation>
    </message>
    <message>
        <source>The engine failed: {kind}: {error}</source>
        <extracomment>engine/engine.py, engine/tasks.py</extracomment>
        <translation>Le moteur a échoué&#xa0;: {kind}&#xa0;: {error}</translation>
    </message>
    <message>
        <source>The engine has been stopped.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Le moteur a été arrêté.</translation>
    </message>
    <message>
        <source>The engine is starting.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Le moteur démarre.</translation>
    </message>
    <message>
        <source>The engine was stopped before the request ended.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Le moteur a été arrêté avant la fin de la requête.</translation>
    </message>
    <message>
        <source>The fact was deleted.</source>
        <extracomment>app/gui/viewmodels/memories.py</extracomment>
        <translation>Le fait a été supprimé.</translation>
    </message>
    <message>
        <source>The fastest: short answers, summaries and first drafts on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Le plus rapide&#xa0;: réponses courtes, résumés et premiers jets sur tout ordinateur.</translation>
    </message>
    <message>
        <source>The file holds XML that expands itself or never ends; it is not opened.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Le fichier contient du XML qui se multiplie ou ne finit pas ; il n’est pas ouvert.</translation>
    </message>
    <message>
        <source>The file is damaged or incomplete ({kind}).</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Le fichier est endommagé ou incomplet ({kind}).</translation>
    </message>
    <message>
        <source>The file is empty.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Le fichier est vide.</translation>
    </message>
    <message>
        <source>The file is larger than can be read here.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>Le fichier est trop volumineux pour être lu ici.</translation>
    </message>
    <message>
        <source>The file is protected with a password. Save a copy without one.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Le fichier est protégé par un mot de passe. Enregistrez-en une copie sans mot de passe.</translation>
    </message>
    <message>
        <source>The file unpacks to more than can be read here: it is damaged, or made to do harm.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Une fois décompressé, le fichier est trop volumineux : il est endommagé ou conçu pour nuire.</translation>
    </message>
    <message>
        <source>The file with your conversations was damaged. It was saved as {file}, and Grus started with a new one.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Le fichier de vos conversations était endommagé. Il a été enregistré sous {file}, et Grus en a commencé un nouveau.</translation>
    </message>
    <message>
        <source>The format {kind} is not supported. Choose a format from the list.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Le format {kind} n’est pas pris en charge. Choisissez un format de la liste.</translation>
    </message>
    <message>
        <source>The hub does not say which version of {name} it has. Try again later.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>Hugging Face n’indique pas la version de {name}. Réessayez plus tard.</translation>
    </message>
    <message>
        <source>The hub redirects a file in a circle. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face redirige un fichier en boucle. Réessayez plus tard.</translation>
    </message>
    <message>
        <source>The image has no pixels.</source>
        <extracomment>engine/media/documents.py, engine/media/image.py</extracomment>
        <translation>L’image n’a pas de pixels.</translation>
    </message>
    <message>
        <source>The image has pixels of floating point, which have no fixed white. Save it with 8 bits.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>L’image a des pixels à virgule flottante, sans blanc défini. Enregistrez-la en 8 bits.</translation>
    </message>
    <message>
        <source>The image has too many pixels; the most is {most}.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>L’image a trop de pixels&#xa0;; le maximum est {most}.</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than can be read ({most}).</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>L’image fait {width} × {height} pixels, plus qu’il n’est possible de lire ({most}).</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than the memory that is free can hold.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>L’image fait {width} × {height} pixels, plus que la mémoire libre ne peut contenir.</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels; the most is {most} in all.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>L’image fait {width} × {height} pixels&#xa0;; le maximum est {most} au total.</translation>
    </message>
    <message>
        <source>The image is damaged or incomplete ({kind}).</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>L’image est endommagée ou incomplète ({kind}).</translation>
    </message>
    <message>
        <source>The image is empty.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>L’image est vide.</translation>
    </message>
    <message>
        <source>The image needs more memory than is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>L’image nécessite plus de mémoire qu’il n’y en a de libre.</translation>
    </message>
    <message>
        <source>The image needs more memory than there is. Send a smaller one.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>L’image nécessite plus de mémoire que disponible. Envoyez-en une plus petite.</translation>
    </message>
    <message>
        <source>The index was made by a newer version of Grus.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>L’index a été créé par une version plus récente de Grus.</translation>
    </message>
    <message>
        <source>The key is copied.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>La clé est copiée.</translation>
    </message>
    <message>
        <source>The library that runs models.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>La bibliothèque qui exécute les modèles.</translation>
    </message>
    <message>
        <source>The list of new versions cannot be read. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>La liste des nouvelles versions ne peut pas être lue. Rien n’a été modifié.</translation>
    </message>
    <message>
        <source>The list of new versions is not trusted: {reason}. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>La liste des nouvelles versions n’est pas fiable : {reason}. Rien n’a été modifié.</translation>
    </message>
    <message>
        <source>The list of new versions is too large. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>La liste des nouvelles versions est trop grande. Rien n’a été modifié.</translation>
    </message>
    <message>
        <source>The log has more.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Le journal en dit plus.</translation>
    </message>
    <message>
        <source>The loudspeaker was disconnected. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Le haut-parleur a été déconnecté. Connectez-en un, puis relancez la lecture.</translation>
    </message>
    <message>
        <source>The maximum length was reached. Press Continue for more.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>La longueur maximale est atteinte. Appuyez sur Continuer pour la suite.</translation>
    </message>
    <message>
        <source>The message was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Le message a été supprimé.</translation>
    </message>
    <message>
        <source>The microphone could not be opened. Is another program using it?</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Impossible d’ouvrir le micro. Un autre programme l’utilise-t-il&#xa0;?</translation>
    </message>
    <message>
        <source>The microphone was disconnected. The recording so far is kept. Connect a microphone, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Le micro a été déconnecté. L’enregistrement jusque-là est conservé. Connectez un micro, puis réessayez.</translation>
    </message>
    <message>
        <source>The model chosen last</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Le dernier modèle choisi</translation>
    </message>
    <message>
        <source>The model is not sure of this text.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>Le modèle n’est pas sûr de ce texte.</translation>
    </message>
    <message>
        <source>The model made no voice of these words. Try another seed.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Le modèle n’a pas produit de voix à partir de ces mots. Réessayez.</translation>
    </message>
    <message>
        <source>The model may call this tool.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Le modèle peut appeler cet outil.</translation>
    </message>
    <message>
        <source>The model {model} writes no text.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>Le modèle {model} ne produit pas de texte.</translation>
    </message>
    <message>
        <source>The model {name} cannot be used here.</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Le modèle {name} ne peut pas être utilisé ici.</translation>
    </message>
    <message>
        <source>The model {name} could not be loaded: {kind}: {error}</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Impossible de charger le modèle {name}&#xa0;: {kind}&#xa0;: {error}</translation>
    </message>
    <message>
        <source>The model {name} is not loaded.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Le modèle {name} n’est pas chargé.</translation>
    </message>
    <message>
        <source>The model {name} takes {size} MiB; the memory limit is {limit} MiB, and its sequences need room too.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>Le modèle {name} occupe {size} Mio&#xa0;; la limite de mémoire est de {limit} Mio, et ses séquences ont aussi besoin de place.</translation>
    </message>
    <message>
        <source>The name or folder of a small model with the same vocabulary, or of an EAGLE-3 head made for the model.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Nom ou dossier d’un petit modèle de même vocabulaire, ou d’une tête EAGLE-3 faite pour le modèle.</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>La nouvelle version est téléchargée et sa signature est valide.</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid. In a terminal: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>La nouvelle version est téléchargée et sa signature est valide. Dans un terminal : {command}</translation>
    </message>
    <message>
        <source>The page</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>La page</translation>
    </message>
    <message>
        <source>The page can load nothing from the network and send nothing.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>La page ne peut rien charger du réseau ni rien envoyer.</translation>
    </message>
    <message>
        <source>The page is empty.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>La page est vide.</translation>
    </message>
    <message>
        <source>The password is wrong.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Le mot de passe est incorrect.</translation>
    </message>
    <message>
        <source>The process that answered has ended: {why}. Send the request again.</source>
        <extracomment>engine/parallel/replica_scheduler.py</extracomment>
        <translation>Le processus qui répondait s’est terminé : {why}. Envoyez à nouveau la requête.</translation>
    </message>
    <message>
        <source>The project was removed. Its conversations are still here.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Le projet a été retiré. Ses conversations sont toujours là.</translation>
    </message>
    <message>
        <source>The prompt has {tokens} tokens; the context holds {limit}, and a reply needs room too. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>Le prompt compte {tokens} tokens&#xa0;; le contexte en contient {limit}, et la réponse a aussi besoin de place. Raccourcissez-le.</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>Le prompt est vide.</translation>
    </message>
    <message>
        <source>The reading was stopped.</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>La lecture a été arrêtée.</translation>
    </message>
    <message>
        <source>The recording is clipped: {share} of its samples are as loud as it goes. Record it again, quieter.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>L’enregistrement est saturé&#xa0;: {share} des échantillons sont au maximum. Enregistrez à nouveau, moins fort.</translation>
    </message>
    <message>
        <source>The recording is silent.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>L’enregistrement est silencieux.</translation>
    </message>
    <message>
        <source>The recording lasts {seconds} seconds. A voice can be taken from {least} to {most}; 3 to 15 are best.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>L’enregistrement dure {seconds} secondes. Une voix peut être tirée de {least} à {most}&#xa0;; l’idéal est de 3 à 15.</translation>
    </message>
    <message>
        <source>The recording of {name} is too short to know the voice again.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>L’enregistrement de {name} est trop court pour reconnaître la voix.</translation>
    </message>
    <message>
        <source>The recording&apos;s codes do not belong to this model. Make the voice again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Les codes de l’enregistrement ne correspondent pas à ce modèle. Créez la voix à nouveau.</translation>
    </message>
    <message>
        <source>The same seed gives the same answer.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>La même graine donne la même réponse.</translation>
    </message>
    <message>
        <source>The same, with fewer errors.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Le même, avec moins d’erreurs.</translation>
    </message>
    <message>
        <source>The server {name} was removed, with its key.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>Le serveur {name} a été retiré, avec sa clé.</translation>
    </message>
    <message>
        <source>The servers cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Les serveurs ne peuvent pas être enregistrés dans {file} : {reason}.</translation>
    </message>
    <message>
        <source>The system has no voice that speaks {language}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Le système n’a aucune voix qui parle {language}.</translation>
    </message>
    <message>
        <source>The system has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Le système n’a pas de voix {name}. Il a : {voices}.</translation>
    </message>
    <message>
        <source>The system&apos;s voice failed ({reason}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>La voix du système a échoué ({reason}).</translation>
    </message>
    <message>
        <source>The system&apos;s voices clone none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Les voix du système n’en clonent aucune. Pour cloner, choisissez un modèle Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>The system&apos;s voices take no instructions.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Les voix du système n’acceptent pas d’instructions.</translation>
    </message>
    <message>
        <source>The text</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Le texte</translation>
    </message>
    <message>
        <source>The text cannot be typed ({error}); it is in the clipboard. On Debian, install libxtst6.</source>
        <extracomment>app/gui/keyboard/x11_paste.py</extracomment>
        <translation>Le texte ne peut pas être saisi ({error}) ; il est dans le presse-papiers. Sous Debian, installez libxtst6.</translation>
    </message>
    <message>
        <source>The text has {length} characters; the most is {most}.</source>
        <extracomment>engine/pipelines/reading/book.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>Le texte compte {length} caractères&#xa0;; le maximum est {most}.</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} are spoken at once.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Le texte compte {length} caractères&#xa0;; {most} sont lus à la fois.</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} can be spoken at once.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Le texte compte {length} caractères&#xa0;; {most} peuvent être lus à la fois.</translation>
    </message>
    <message>
        <source>The text has {tokens} tokens; the context holds {limit}. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>Le texte compte {tokens} tokens&#xa0;; le contexte en contient {limit}. Raccourcissez-le.</translation>
    </message>
    <message>
        <source>The text is longer than its place on the page can hold.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>Le texte est plus long que sa place sur la page ne le permet.</translation>
    </message>
    <message>
        <source>The text repeats itself.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>Le texte se répète.</translation>
    </message>
    <message>
        <source>The text was read.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>Le texte a été lu.</translation>
    </message>
    <message>
        <source>The token cannot be kept in {file}: {reason}.</source>
        <extracomment>engine/secret_store.py</extracomment>
        <translation>Impossible de stocker le jeton dans {file}&#xa0;: {reason}.</translation>
    </message>
    <message>
        <source>The tokenizer of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Le tokenizer de ce modèle est inutilisable.</translation>
    </message>
    <message>
        <source>The tools cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Les outils ne peuvent pas être enregistrés dans {file} : {reason}.</translation>
    </message>
    <message>
        <source>The tools file {file} cannot be read: {error}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Le fichier d’outils {file} ne peut pas être lu : {error}.</translation>
    </message>
    <message>
        <source>The tools file {file} is damaged. Correct it or delete it.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Le fichier d’outils {file} est endommagé. Corrigez-le ou supprimez-le.</translation>
    </message>
    <message>
        <source>The voice did not come to an end. Try again, or with a shorter text.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>La voix n’est pas arrivée à la fin. Réessayez, ou avec un texte plus court.</translation>
    </message>
    <message>
        <source>The voice has {size} numbers and this model wants {wanted}: it was made for a model of another size. Make it again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>La voix compte {size} valeurs et ce modèle en demande {wanted}&#xa0;: elle a été créée pour un modèle d’une autre taille. Créez-la à nouveau.</translation>
    </message>
    <message>
        <source>The voice was made for another model. Make it again.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py, engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>La voix a été créée pour un autre modèle. Créez-la de nouveau.</translation>
    </message>
    <message>
        <source>The voice {name} does not fit this model.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>La voix {name} ne convient pas à ce modèle.</translation>
    </message>
    <message>
        <source>The voice {name} is damaged. Make it again from {sample}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>La voix {name} est endommagée. Créez-la à nouveau à partir de {sample}.</translation>
    </message>
    <message>
        <source>The voice {name} is damaged: {path}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>La voix {name} est endommagée&#xa0;: {path}.</translation>
    </message>
    <message>
        <source>The voice {name} is saved.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>La voix {name} est enregistrée.</translation>
    </message>
    <message>
        <source>The voice {name} was deleted.</source>
        <extracomment>app/gui/viewmodels/known_voices.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>La voix {name} a été supprimée.</translation>
    </message>
    <message>
        <source>The weights of this model are damaged or incomplete.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Les poids de ce modèle sont endommagés ou incomplets.</translation>
    </message>
    <message>
        <source>The weights take {weights} of the {limit} that may be used, which leaves no room for a conversation. Choose a smaller or more strongly quantized model, or raise the memory limit.</source>
        <extracomment>engine/shares.py</extracomment>
        <translation>Les poids occupent {weights} des {limit} utilisables, ce qui ne laisse pas de place à une conversation. Choisissez un modèle plus petit ou plus fortement quantifié, ou augmentez la limite de mémoire.</translation>
    </message>
    <message>
        <source>There are no documents and no images in the folder {path}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>Le dossier {path} ne contient ni document ni image.</translation>
    </message>
    <message>
        <source>There is a voice called {name} already. Choose another name, or delete it first.</source>
        <extracomment>engine/pipelines/speaking/voice.py, app/runtime/voice.py</extracomment>
        <translation>Une voix nommée {name} existe déjà. Choisissez un autre nom, ou supprimez-la d’abord.</translation>
    </message>
    <message>
        <source>There is no file {path}.</source>
        <extracomment>engine/media/documents.py, app/runtime/imports/export_file.py</extracomment>
        <translation>Le fichier {path} n’existe pas.</translation>
    </message>
    <message>
        <source>There is no folder {path}.</source>
        <extracomment>engine/pipelines/reading/watching.py, app/runtime/library/folders.py, app/runtime/library/indexer.py</extracomment>
        <translation>Le dossier {path} n’existe pas.</translation>
    </message>
    <message>
        <source>There is no other model</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Il n’y a pas d’autre modèle</translation>
    </message>
    <message>
        <source>There is no room for another model while those that are loaded work.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Il n’y a pas de place pour un autre modèle tant que les modèles chargés travaillent.</translation>
    </message>
    <message>
        <source>There is no room for another model: all that are loaded are pinned.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>Il n’y a pas de place pour un autre modèle&#xa0;: tous ceux qui sont chargés sont épinglés.</translation>
    </message>
    <message>
        <source>There is no saved voice called {name}. Saved: {known}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Aucune voix enregistrée ne s’appelle {name}. Enregistrées&#xa0;: {known}.</translation>
    </message>
    <message>
        <source>There is no server {name} here. Added: {have}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Il n’y a pas de serveur {name} ici. Ajoutés : {have}.</translation>
    </message>
    <message>
        <source>There is no text to speak.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py, engine/pipelines/speaking/system_voice.py, engine/pipelines/speaking/voice.py</extracomment>
        <translation>Il n’y a pas de texte à lire.</translation>
    </message>
    <message>
        <source>There is no tool server {name}. Added: {have}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Il n’y a pas de serveur d’outils {name}. Ajoutés : {have}.</translation>
    </message>
    <message>
        <source>There is no voice {name}. Choose one of {voices}.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Il n’y a pas de voix {name}. Choisissez parmi {voices}.</translation>
    </message>
    <message>
        <source>There is nothing to say: the text is empty.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py, engine/pipelines/speaking/qwen3_tts.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>Il n’y a rien à lire&#xa0;: le texte est vide.</translation>
    </message>
    <message>
        <source>There was nothing to speak.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>Il n’y avait rien à lire.</translation>
    </message>
    <message>
        <source>These hold for all conversations in the project, also for those that are there already.</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Ceci vaut pour toutes les conversations du projet, y compris celles qui existent déjà.</translation>
    </message>
    <message>
        <source>This JSON file contains no conversation: it has no list of messages.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Ce fichier JSON ne contient pas de conversation&#xa0;: il n’a pas de liste de messages.</translation>
    </message>
    <message>
        <source>This address belongs to no sign-in that is waited for.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Cette adresse ne correspond à aucune connexion attendue.</translation>
    </message>
    <message>
        <source>This address comes from the model. Open it in your browser?</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Cette adresse vient du modèle. L’ouvrir dans votre navigateur&#xa0;?</translation>
    </message>
    <message>
        <source>This archive cannot be imported: a part of it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Cette archive ne peut pas être importée : une partie est endommagée.</translation>
    </message>
    <message>
        <source>This archive is not a document that can be read: no docx, pptx, xlsx, odt, ods, odp or epub.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Cette archive n’est pas un document lisible : ni docx, ni pptx, ni xlsx, ni odt, ni ods, ni odp, ni epub.</translation>
    </message>
    <message>
        <source>This archive was made by a newer Grus. Update Grus to import it.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Cette archive a été créée par une version plus récente de Grus. Mettez Grus à jour pour l’importer.</translation>
    </message>
    <message>
        <source>This conversation cannot be imported: one of its messages is incomplete.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Impossible d’importer cette conversation&#xa0;: un de ses messages est incomplet.</translation>
    </message>
    <message>
        <source>This conversation was exported by a newer version of Grus. Update Grus to import it.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Cette conversation a été exportée par une version plus récente de Grus. Mettez Grus à jour pour l’importer.</translation>
    </message>
    <message>
        <source>This copy of Chatterbox cannot clone: it is without its speech tokenizer. Put model.safetensors of mlx-community/S3TokenizerV2 beside it as {name}, or use ResembleAI/chatterbox.</source>
        <extracomment>engine/models/chatterbox_encoder.py</extracomment>
        <translation>Cette copie de Chatterbox ne peut pas cloner : il lui manque son tokeniseur de parole. Placez model.safetensors de mlx-community/S3TokenizerV2 à côté sous le nom {name}, ou utilisez ResembleAI/chatterbox.</translation>
    </message>
    <message>
        <source>This copy of Chatterbox comes without a voice. Clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Cette copie de Chatterbox est livrée sans voix. Clonez-en une à partir d’un enregistrement.</translation>
    </message>
    <message>
        <source>This desktop does not let apps capture the screen. Take a screenshot with the desktop&apos;s own tool, then paste it here.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Cet environnement de bureau ne laisse pas les applications capturer l’écran. Faites une capture avec son propre outil, puis collez-la ici.</translation>
    </message>
    <message>
        <source>This desktop does not let apps see a key that is held. In its keyboard settings, add a shortcut for the command {command}, which begins dictation, and the next time ends it.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Cet environnement de bureau ne laisse pas les applications voir une touche maintenue. Dans ses réglages de clavier, ajoutez un raccourci pour la commande {command}, qui commence la dictée et, la fois suivante, la termine.</translation>
    </message>
    <message>
        <source>This desktop does not let apps set global shortcuts. In its keyboard settings, add a shortcut for the command {command}, which brings the window to the front.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>Cet environnement de bureau ne permet pas aux applications de définir des raccourcis globaux. Dans ses réglages de clavier, ajoutez un raccourci pour la commande {command}, qui amène la fenêtre au premier plan.</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others, so the text is in the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>Cet environnement de bureau ne laisse aucune application écrire dans les autres : le texte est donc dans le presse-papiers. Installez wtype (Sway, Hyprland), ou ydotool avec son service (tout environnement).</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others. Copy puts the text into the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service and wl-clipboard (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>Cet environnement de bureau ne laisse aucune application écrire dans les autres. Copier place le texte dans le presse-papiers. Installez wtype (Sway, Hyprland), ou ydotool avec son service et wl-clipboard (tout environnement).</translation>
    </message>
    <message>
        <source>This download was interrupted. What was downloaded is kept.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Ce téléchargement a été interrompu. Ce qui a été téléchargé est conservé.</translation>
    </message>
    <message>
        <source>This file is not JSON. Import a conversation that was exported as JSON.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Ce fichier n’est pas du JSON. Importez une conversation exportée en JSON.</translation>
    </message>
    <message>
        <source>This file is not a Grus archive, or it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Ce fichier n’est pas une archive de Grus, ou il est endommagé.</translation>
    </message>
    <message>
        <source>This is a Base model: it needs a recording of the voice that it is to speak in.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>C’est un modèle Base&#xa0;: il a besoin d’un enregistrement de la voix à utiliser.</translation>
    </message>
    <message>
        <source>This is a HEIC image, which needs one more package here: pip install pillow-heif. Or save the picture as JPEG or PNG.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>C’est une image HEIC, qui nécessite un paquet de plus&#xa0;: pip install pillow-heif. Ou enregistrez l’image en JPEG ou PNG.</translation>
    </message>
    <message>
        <source>This is a binary Excel file (xlsb). Save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Ceci est un fichier Excel binaire (xlsb). Enregistrez-le au format xlsx.</translation>
    </message>
    <message>
        <source>This is an Outlook message (msg). Save it as eml, or print it to a PDF.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Ceci est un message Outlook (msg). Enregistrez-le au format eml, ou imprimez-le en PDF.</translation>
    </message>
    <message>
        <source>This is an old Excel file (xls). Open it in Excel or LibreOffice, and save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Ceci est un ancien fichier Excel (xls). Ouvrez-le dans Excel ou LibreOffice, puis enregistrez-le au format xlsx.</translation>
    </message>
    <message>
        <source>This is an old Office file of a kind that is not read. Save it as docx, xlsx or pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Ceci est un ancien fichier Office d’un type qui n’est pas lu. Enregistrez-le au format docx, xlsx ou pptx.</translation>
    </message>
    <message>
        <source>This is an old PowerPoint file (ppt). Open it in PowerPoint or LibreOffice, and save it as pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Ceci est un ancien fichier PowerPoint (ppt). Ouvrez-le dans PowerPoint ou LibreOffice, puis enregistrez-le au format pptx.</translation>
    </message>
    <message>
        <source>This is an old Word file (doc). Open it in Word or LibreOffice, and save it as docx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Ceci est un ancien fichier Word (doc). Ouvrez-le dans Word ou LibreOffice, puis enregistrez-le au format docx.</translation>
    </message>
    <message>
        <source>This is neither a document nor an image that can be read.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Ce n’est ni un document ni une image lisible.</translation>
    </message>
    <message>
        <source>This is not an image that can be read: {formats} can.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>Ce n’est pas une image lisible. Formats lisibles&#xa0;: {formats}.</translation>
    </message>
    <message>
        <source>This is the Guide, a tiny helper that answers questions about Grus, in English.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Voici le Guide, un tout petit assistant qui répond en anglais aux questions sur Grus.</translation>
    </message>
    <message>
        <source>This is too long for the model: over {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>C’est trop long pour le modèle&#xa0;: plus de {tokens} tokens, alors qu’il peut en traiter {limit} à la fois.</translation>
    </message>
    <message>
        <source>This is too long for the model: {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>C’est trop long pour le modèle&#xa0;: {tokens} tokens, alors qu’il peut en traiter {limit} à la fois.</translation>
    </message>
    <message>
        <source>This machine could not be checked in time. Refresh in Models tries again.</source>
        <extracomment>engine/machine.py</extracomment>
        <translation>Cette machine n’a pas pu être vérifiée à temps. « Actualiser » dans « Modèles » réessaie.</translation>
    </message>
    <message>
        <source>This machine only</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Cet ordinateur uniquement</translation>
    </message>
    <message>
        <source>This model also needs {model}. Download it in Models.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Ce modèle nécessite aussi {model}. Téléchargez-le dans Modèles.</translation>
    </message>
    <message>
        <source>This model creates a voice from a description. Describe one below.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Ce modèle crée une voix à partir d’une description. Décrivez-la ci-dessous.</translation>
    </message>
    <message>
        <source>This model does not speak {language}. It speaks {languages}.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Ce modèle ne parle pas {language}. Il parle {languages}.</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. Choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Ce modèle ne permet pas de cloner une voix. Choisissez-en un qui le permet : Qwen3-TTS Base, Chatterbox ou Spark-TTS.</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. For “{name}” choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Ce modèle ne permet pas de cloner une voix. Pour « {name} », choisissez-en un qui le permet : Qwen3-TTS Base, Chatterbox ou Spark-TTS.</translation>
    </message>
    <message>
        <source>This model has no voices of its own: it needs a recording of the voice.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Ce modèle n’a pas de voix propres : il lui faut un enregistrement de la voix.</translation>
    </message>
    <message>
        <source>This model is gated: accept its terms on Hugging Face first. Then enter your token here.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>L’accès à ce modèle est restreint : acceptez d’abord ses conditions sur Hugging Face. Saisissez ensuite votre jeton ici.</translation>
    </message>
    <message>
        <source>This model needs a recorded voice. Create a new voice, or choose one.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Ce modèle a besoin d’une voix enregistrée. Créez une nouvelle voix, ou choisissez-en une.</translation>
    </message>
    <message>
        <source>This model speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Ce modèle parle anglais, et non {language}.</translation>
    </message>
    <message>
        <source>This model takes no instructions. The CustomVoice and VoiceDesign models of size 1.7B follow them.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Ce modèle n’accepte pas d’instructions. Les modèles CustomVoice et VoiceDesign de taille 1.7B les suivent.</translation>
    </message>
    <message>
        <source>This model was not found.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Ce modèle est introuvable.</translation>
    </message>
    <message>
        <source>This month</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Ce mois-ci</translation>
    </message>
    <message>
        <source>This page has a table. {model} reads tables as tables, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Cette page contient un tableau. {model} lit les tableaux comme tels, environ {seconds} s par page pleine sur cette machine.</translation>
    </message>
    <message>
        <source>This picture cannot be drawn.</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Cette image ne peut pas être dessinée.</translation>
    </message>
    <message>
        <source>This picture defines entities, and is not drawn.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Cette image définit des entités et n’est pas dessinée.</translation>
    </message>
    <message>
        <source>This picture is too large for a preview.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Cette image est trop grande pour un aperçu.</translation>
    </message>
    <message>
        <source>This release has no file of the kind {kind}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Cette version n’a aucun fichier du type {kind}.</translation>
    </message>
    <message>
        <source>This system has no program that speaks ({hint}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>Ce système n’a aucun programme de synthèse vocale ({hint}).</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Chatterbox.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Cette voix a été créée par un autre modèle. Clonez-la de nouveau avec Chatterbox.</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Spark-TTS.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Cette voix a été créée par un autre modèle. Clonez-la à nouveau avec Spark-TTS.</translation>
    </message>
    <message>
        <source>This week</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Cette semaine</translation>
    </message>
    <message>
        <source>Threads on battery</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Fils sur batterie</translation>
    </message>
    <message>
        <source>To another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Vers une autre machine</translation>
    </message>
    <message>
        <source>Today</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Aujourd’hui</translation>
    </message>
    <message>
        <source>Tokens and time</source>
        <extracomment>app/gui/chat/message_buttons.py</extracomment>
        <translation>Tokens et temps</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Tokens par seconde</translation>
    </message>
    <message>
        <source>Too large for this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Trop volumineux pour cet ordinateur&#xa0;: nécessite environ {needed} sur {has}.</translation>
    </message>
    <message>
        <source>Tool</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Outil</translation>
    </message>
    <message>
        <source>Tool call: {tool}</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Appel d’outil&#xa0;: {tool}</translation>
    </message>
    <message>
        <source>Tools</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/settings/tools.py</extracomment>
        <translation>Outils</translation>
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
        <translation>Transcrire à nouveau</translation>
    </message>
    <message>
        <source>Transcribe speech</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Transcrire la parole</translation>
    </message>
    <message>
        <source>Transcribes English speech while you talk, on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcrit l’anglais pendant que vous parlez, sur tout ordinateur.</translation>
    </message>
    <message>
        <source>Transcribes long recordings in 25 European languages, with the time of every word.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcrit de longs enregistrements en 25 langues européennes, avec l&apos;instant de chaque mot.</translation>
    </message>
    <message>
        <source>Transcribes speech in 30 languages, in noise as well.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcrit la parole en 30 langues, même dans le bruit.</translation>
    </message>
    <message>
        <source>Transcribes speech in 8 languages, and answers questions about a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcrit la parole en 8 langues et répond à des questions sur un enregistrement.</translation>
    </message>
    <message>
        <source>Transcribes speech in 99 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcrit la parole en 99 langues.</translation>
    </message>
    <message>
        <source>Transcript</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>Transcription</translation>
    </message>
    <message>
        <source>Transcript of the recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Transcription de l’enregistrement</translation>
    </message>
    <message>
        <source>Transcript of the recording, for a closer voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Transcription de l’enregistrement, pour une voix plus fidèle</translation>
    </message>
    <message>
        <source>Transcription</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Transcription</translation>
    </message>
    <message>
        <source>Troubleshooting</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Dépannage</translation>
    </message>
    <message>
        <source>Turned by 180 degrees.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Pivotée de 180 degrés.</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the left.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Pivotée de 90 degrés vers la gauche.</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the right.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Pivotée de 90 degrés vers la droite.</translation>
    </message>
    <message>
        <source>Type a name and press Enter. Only these words are sent, to huggingface.co.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Saisissez un nom et appuyez sur Entrée. Seuls ces mots sont envoyés, à huggingface.co.</translation>
    </message>
    <message>
        <source>Type the result of the tool call.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Saisissez le résultat de l’appel d’outil.</translation>
    </message>
    <message>
        <source>Type what to search for: a model&apos;s name, or who made it.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Saisissez ce qu’il faut rechercher&#xa0;: le nom d’un modèle ou de son auteur.</translation>
    </message>
    <message>
        <source>Understands images and pages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Comprend les images et les pages. Raisonnement facultatif.</translation>
    </message>
    <message>
        <source>Understands images, screenshots and charts, and answers questions about them.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Comprend les images, captures d’écran et graphiques, et répond aux questions à leur sujet.</translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>app/gui/bars.py, app/gui/listen/pane.py, app/gui/viewmodels/agents.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/known_voices.py, app/gui/viewmodels/memories.py, app/gui/viewmodels/models/library.py, app/gui/viewmodels/results.py, app/gui/viewmodels/speak.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>Annuler l’action</translation>
    </message>
    <message>
        <source>Unload</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Décharger</translation>
    </message>
    <message>
        <source>Unloading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Déchargement de {model}.</translation>
    </message>
    <message>
        <source>Unpacking.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Décompression en cours.</translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Désépingler</translation>
    </message>
    <message>
        <source>Until Grus is closed.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Jusqu’à la fermeture de Grus.</translation>
    </message>
    <message>
        <source>Untitled</source>
        <extracomment>app/gui/chat/conversation_list.py</extracomment>
        <translation>Sans titre</translation>
    </message>
    <message>
        <source>Update the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Actualiser la bibliothèque</translation>
    </message>
    <message>
        <source>Updates</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Mises à jour</translation>
    </message>
    <message>
        <source>Use</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Utiliser</translation>
    </message>
    <message>
        <source>Use a library</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Utiliser une bibliothèque</translation>
    </message>
    <message>
        <source>Use a prompt</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>Utiliser un prompt</translation>
    </message>
    <message>
        <source>Use a prompt…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>Utiliser un prompt…</translation>
    </message>
    <message>
        <source>Use default</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Valeur par défaut</translation>
    </message>
    <message>
        <source>Use text in PDFs</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Utiliser le texte des PDF</translation>
    </message>
    <message>
        <source>Use the text layer of a PDF instead of recognizing its image.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Utiliser la couche de texte d’un PDF au lieu de reconnaître son image.</translation>
    </message>
    <message>
        <source>Use tools</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Utiliser des outils</translation>
    </message>
    <message>
        <source>Use {model}</source>
        <extracomment>app/gui/chat/pane.py, app/gui/chat/picture_bar.py</extracomment>
        <translation>Utiliser {model}</translation>
    </message>
    <message>
        <source>Using the token of the Hugging Face command line, from {file}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Le jeton de la ligne de commande Hugging Face est utilisé, depuis {file}.</translation>
    </message>
    <message>
        <source>Variables or headers: NAME=VALUE, one in each line</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Variables ou en-têtes : NOM=VALEUR, une par ligne</translation>
    </message>
    <message>
        <source>Verify files</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Vérifier les fichiers</translation>
    </message>
    <message>
        <source>Verifying</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Vérification</translation>
    </message>
    <message>
        <source>Verifying the files of {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Vérification des fichiers de {model}.</translation>
    </message>
    <message>
        <source>Vision</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Vision</translation>
    </message>
    <message>
        <source>Voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Voix</translation>
    </message>
    <message>
        <source>Voice recognition</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Reconnaissance des voix</translation>
    </message>
    <message>
        <source>Waiting</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py</extracomment>
        <translation>En attente</translation>
    </message>
    <message>
        <source>Waiting for the model.</source>
        <extracomment>app/gui/viewmodels/chat/reply_stream.py, app/window_reply.py</extracomment>
        <translation>En attente du modèle.</translation>
    </message>
    <message>
        <source>Watch a folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py</extracomment>
        <translation>Surveiller un dossier</translation>
    </message>
    <message>
        <source>Watching</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>Surveillance en cours</translation>
    </message>
    <message>
        <source>Waveform</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>Forme d’onde</translation>
    </message>
    <message>
        <source>Web page</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Page web</translation>
    </message>
    <message>
        <source>Web page reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Lecteur de pages web</translation>
    </message>
    <message>
        <source>Web search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Recherche web</translation>
    </message>
    <message>
        <source>Weights</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Poids</translation>
    </message>
    <message>
        <source>What answered is not Hugging Face. A sign-in page of this network, or a wrong HF_ENDPOINT, may stand in between.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>La réponse ne vient pas de Hugging Face. Une page de connexion de ce réseau, ou un HF_ENDPOINT erroné, s’interpose peut-être.</translation>
    </message>
    <message>
        <source>What appears in the folder is read, and the result is written beside its file.</source>
        <extracomment>app/gui/read/watch.py</extracomment>
        <translation>Ce qui apparaît dans le dossier est lu, et le résultat est enregistré à côté du fichier.</translation>
    </message>
    <message>
        <source>What can you help me with?</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>En quoi peux-tu m’aider&#xa0;?</translation>
    </message>
    <message>
        <source>What it is asked leaves this machine.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Ce qui lui est demandé quitte cette machine.</translation>
    </message>
    <message>
        <source>What its tools are asked leaves this machine.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ce qui est demandé à ses outils quitte cette machine.</translation>
    </message>
    <message>
        <source>What the model should know and how it should answer.</source>
        <extracomment>app/gui/chat/panel.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Ce que le modèle doit savoir et comment il doit répondre.</translation>
    </message>
    <message>
        <source>What the voice is like: an old man, warm and slow</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>À quoi ressemble la voix&#xa0;: un homme âgé, voix chaude et lente</translation>
    </message>
    <message>
        <source>What to read</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Éléments à lire</translation>
    </message>
    <message>
        <source>What tool servers have to read goes with your message as a file.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Ce que les serveurs d’outils donnent à lire accompagne votre message sous forme de fichier.</translation>
    </message>
    <message>
        <source>Where the browser shows an error: the address at which it ended</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Si le navigateur affiche une erreur : l’adresse où il s’est arrêté</translation>
    </message>
    <message>
        <source>Whole page</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Page entière</translation>
    </message>
    <message>
        <source>Window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Fenêtre</translation>
    </message>
    <message>
        <source>Windows does not let Grus type into this app; the text is in the clipboard. Press Ctrl+V there.</source>
        <extracomment>app/gui/keyboard/windows_paste.py</extracomment>
        <translation>Windows ne laisse pas Grus écrire dans cette application ; le texte est dans le presse-papiers. Appuyez-y sur Ctrl+V.</translation>
    </message>
    <message>
        <source>With headphones, you can interrupt the voice by speaking. With loudspeakers, turn this off: Grus then listens after it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Avec un casque, vous pouvez interrompre la voix en parlant. Avec des haut-parleurs, désactivez cette option&#xa0;: Grus n’écoute alors qu’après avoir fini de parler.</translation>
    </message>
    <message>
        <source>Without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Sans réseau et sans vos fichiers, avec des limites de temps et de mémoire.</translation>
    </message>
    <message>
        <source>Work offline</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Travailler hors ligne</translation>
    </message>
    <message>
        <source>Works in every app. Clear the field for none.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>Fonctionne dans toutes les applications. Videz le champ pour n’en utiliser aucun.</translation>
    </message>
    <message>
        <source>Write NAME=VALUE in each line.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Écrivez NOM=VALEUR sur chaque ligne.</translation>
    </message>
    <message>
        <source>Write a message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Écrire un message</translation>
    </message>
    <message>
        <source>Write, or drop a document</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Écrivez, ou déposez un document</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Hier</translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Vous</translation>
    </message>
    <message>
        <source>You are signed in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Vous êtes connecté.</translation>
    </message>
    <message>
        <source>You are signed out of {name} here.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Vous êtes déconnecté de {name} ici.</translation>
    </message>
    <message>
        <source>Your conversations cannot be opened: {reason}. The file is unchanged, and Grus will retry.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Impossible d’ouvrir vos conversations&#xa0;: {reason}. Le fichier est inchangé, et Grus va réessayer.</translation>
    </message>
    <message>
        <source>Your conversations were saved by a newer version of Grus. Update Grus to open them. The file is unchanged.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Vos conversations ont été enregistrées par une version plus récente de Grus. Mettez Grus à jour pour les ouvrir. Le fichier est inchangé.</translation>
    </message>
    <message>
        <source>Your last changes are not saved yet. Close the window again to discard them.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Vos dernières modifications ne sont pas encore enregistrées. Fermez à nouveau la fenêtre pour les abandonner.</translation>
    </message>
    <message>
        <source>Your message was sent.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Votre message a été envoyé.</translation>
    </message>
    <message>
        <source>Your settings could not be read. They were saved as {file}, and Grus started with default settings.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Impossible de lire vos paramètres. Ils ont été enregistrés sous {file}, et Grus a démarré avec les paramètres par défaut.</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Zoom avant</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Zoom arrière</translation>
    </message>
    <message>
        <source>about {n} tokens/s</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>environ {n} tokens/s</translation>
    </message>
    <message>
        <source>about {size}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>environ {size}</translation>
    </message>
    <message>
        <source>another program is using it</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>un autre programme l’utilise</translation>
    </message>
    <message>
        <source>bubblewrap does not run on this machine: {reason}</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>bubblewrap ne fonctionne pas sur cette machine : {reason}</translation>
    </message>
    <message>
        <source>chapter {n} of {total}</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>chapitre {n} sur {total}</translation>
    </message>
    <message>
        <source>espeak-ng failed ({reason}).</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>espeak-ng a échoué ({reason}).</translation>
    </message>
    <message>
        <source>fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>rapide</translation>
    </message>
    <message>
        <source>first token after {time}</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>premier token après {time}</translation>
    </message>
    <message>
        <source>fits</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>adapté</translation>
    </message>
    <message>
        <source>from disk</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>depuis le disque</translation>
    </message>
    <message>
        <source>gated</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>accès restreint</translation>
    </message>
    <message>
        <source>give Grus a token of your account: `grus token set`, Settings in the window, or HF_TOKEN</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>donnez à Grus un jeton de votre compte&#xa0;: dans les Paramètres de la fenêtre, avec `grus token set` ou HF_TOKEN</translation>
    </message>
    <message>
        <source>high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>haute</translation>
    </message>
    <message numerus="yes">
        <source>in {n} segments</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>dans {n} segment</numerusform>
            <numerusform>dans {n} segments</numerusform>
        </translation>
    </message>
    <message>
        <source>installed</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>installé</translation>
    </message>
    <message>
        <source>loaded</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>chargé</translation>
    </message>
    <message>
        <source>low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>grave</translation>
    </message>
    <message>
        <source>macOS does not let Grus type into other apps yet: allow it in System Settings, Privacy &amp; Security, Accessibility. The text is in the clipboard.</source>
        <extracomment>app/gui/keyboard/mac_paste.py</extracomment>
        <translation>macOS ne laisse pas encore Grus écrire dans d’autres applications : autorisez-le dans Réglages Système, Confidentialité et sécurité, Accessibilité. Le texte est dans le presse-papiers.</translation>
    </message>
    <message>
        <source>moderate</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>moyen</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>maintenant</translation>
    </message>
    <message>
        <source>recommended</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>recommandé</translation>
    </message>
    <message>
        <source>slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>lent</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>le disque est plein</translation>
    </message>
    <message>
        <source>the disk reports an error</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>le disque signale une erreur</translation>
    </message>
    <message>
        <source>the file cannot be opened</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>le fichier ne s’ouvre pas</translation>
    </message>
    <message>
        <source>the file is read-only</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>le fichier est en lecture seule</translation>
    </message>
    <message>
        <source>there are too many unsaved changes</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>il y a trop de modifications non enregistrées</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>la mémoire est insuffisante</translation>
    </message>
    <message>
        <source>tight</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>juste</translation>
    </message>
    <message>
        <source>too large</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>trop volumineux</translation>
    </message>
    <message>
        <source>vLLM, SGLang, llama-server, LM Studio, Ollama or another Grus. What you send to its models leaves this machine.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>vLLM, SGLang, llama-server, LM Studio, Ollama ou un autre Grus. Ce que vous envoyez à ses modèles quitte cette machine.</translation>
    </message>
    <message>
        <source>very fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>très rapide</translation>
    </message>
    <message>
        <source>very high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>très haute</translation>
    </message>
    <message>
        <source>very low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>très grave</translation>
    </message>
    <message>
        <source>very slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>très lent</translation>
    </message>
    <message>
        <source>{about} Details: {error}</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{about} Détails&#xa0;: {error}</translation>
    </message>
    <message>
        <source>{app}, {path}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{app}, {path}</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{done} sur {total}</translation>
    </message>
    <message>
        <source>{done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>{done} fichiers sur {total}</translation>
    </message>
    <message>
        <source>{done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{done} pages sur {total}</translation>
    </message>
    <message>
        <source>{file} cannot be read ({why}). Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} ne peut pas être lu ({why}). Corrigez-le d’abord ; rien n’a été modifié.</translation>
    </message>
    <message>
        <source>{file} cannot be read, so no voice was changed. Move it away to begin anew.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} est illisible, aucune voix n’a donc été modifiée. Déplacez-le pour recommencer.</translation>
    </message>
    <message>
        <source>{file} cannot be replaced: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{file} ne peut pas être remplacé : {reason}.</translation>
    </message>
    <message>
        <source>{file} could not be written: {reason}.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>Impossible d’écrire {file} : {reason}.</translation>
    </message>
    <message>
        <source>{file} holds no settings. Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} ne contient pas de réglages. Corrigez-le d’abord ; rien n’a été modifié.</translation>
    </message>
    <message>
        <source>{file} holds {name}, which leads out of its folder. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} contient {name}, qui sort de son dossier. Il n’est pas importé.</translation>
    </message>
    <message>
        <source>{file} is being changed by another program. Try again in a moment.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>{file} est en cours de modification par un autre programme. Réessayez dans un instant.</translation>
    </message>
    <message>
        <source>{file} is damaged: it cannot be unpacked as a whole.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} est endommagé : il ne peut pas être décompressé en entier.</translation>
    </message>
    <message>
        <source>{file} is encrypted. Unpack it, and import what is in it.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} est chiffré. Décompressez-le et importez son contenu.</translation>
    </message>
    <message>
        <source>{file} is no export of ChatGPT, Claude, LM Studio, Jan or Open WebUI that can be read.</source>
        <extracomment>app/runtime/imports/exports.py</extracomment>
        <translation>{file} n’est pas un export lisible de ChatGPT, Claude, LM Studio, Jan ou Open WebUI.</translation>
    </message>
    <message>
        <source>{file} is no text in UTF-8. Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} n’est pas un texte en UTF-8. Rien n’a été modifié.</translation>
    </message>
    <message>
        <source>{file} is not there any more.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>{file} n’est plus là.</translation>
    </message>
    <message>
        <source>{file} is written in a way that Grus cannot change safely ({why}). Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} est écrit d’une façon que Grus ne peut pas modifier sans risque ({why}). Rien n’a été modifié.</translation>
    </message>
    <message>
        <source>{file} unpacks to more than an export can be. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} devient, une fois décompressé, plus grand qu’un export ne peut l’être. Il n’est pas importé.</translation>
    </message>
    <message>
        <source>{file}: {reason}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{file}&#xa0;: {reason}.</translation>
    </message>
    <message>
        <source>{folder} contains no model: no config.json with weights, and no GGUF file.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{folder} ne contient aucun modèle&#xa0;: ni config.json avec des poids, ni fichier GGUF.</translation>
    </message>
    <message>
        <source>{folder} holds an unfinished audiobook of another text, voice or settings. Delete it, or choose another name.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>{folder} contient un livre audio inachevé d’un autre texte, d’une autre voix ou d’autres réglages. Supprimez le dossier, ou choisissez un autre nom.</translation>
    </message>
    <message>
        <source>{free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{free} disponibles.</translation>
    </message>
    <message>
        <source>{given} could not be read: {reason}.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>Impossible de lire {given}&#xa0;: {reason}.</translation>
    </message>
    <message>
        <source>{how_far}, {rate}/s, {left} left</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{how_far}, {rate}/s, encore {left}</translation>
    </message>
    <message>
        <source>{keys} cannot be used. Use a letter, a digit, Space or F1 to F12, with Ctrl, Alt or Meta.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} n’est pas utilisable. Utilisez une lettre, un chiffre, Espace ou F1 à F12, avec Ctrl, Alt ou Meta.</translation>
    </message>
    <message>
        <source>{keys} cannot be used: {error}. Choose other keys.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} n’est pas utilisable&#xa0;: {error}. Choisissez d’autres touches.</translation>
    </message>
    <message>
        <source>{kinds}. Search for {name} to download one of these.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{kinds}. Recherchez {name} pour en télécharger un.</translation>
    </message>
    <message>
        <source>{model} answers without the images in this conversation.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} répond sans les images de cette conversation.</translation>
    </message>
    <message>
        <source>{model} clones no voices from here.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} ne clone pas de voix depuis ici.</translation>
    </message>
    <message>
        <source>{model} does not hear sound.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} n’entend pas le son.</translation>
    </message>
    <message>
        <source>{model} does not know the task {task}: the page is read as text. PaddleOCR-VL 1.5 knows every task.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} ne connaît pas la tâche {task}&#xa0;: la page est lue comme du texte. PaddleOCR-VL 1.5 connaît toutes les tâches.</translation>
    </message>
    <message>
        <source>{model} does not speak.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} ne parle pas.</translation>
    </message>
    <message>
        <source>{model} does not speak. Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus and Spark-TTS models do.</source>
        <extracomment>engine/pipelines/speaking/speech_models.py</extracomment>
        <translation>{model} ne parle pas. Les modèles Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus et Spark-TTS parlent.</translation>
    </message>
    <message>
        <source>{model} does not support images.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} ne prend pas en charge les images.</translation>
    </message>
    <message>
        <source>{model} does not support tool calls. It answers without tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{model} ne prend pas en charge les appels d’outils. Il répond sans outils.</translation>
    </message>
    <message>
        <source>{model} does not write whole pages: its regions are read.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} n’écrit pas de pages entières&#xa0;: les zones de la page sont lues.</translation>
    </message>
    <message>
        <source>{model} has no voices: its folder `voices` is missing. Download it again.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>{model} n’a pas de voix&#xa0;: son dossier `voices` est absent. Téléchargez-le à nouveau.</translation>
    </message>
    <message>
        <source>{model} is installed. Its checksums are correct.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{model} est installé. Ses sommes de contrôle sont correctes.</translation>
    </message>
    <message>
        <source>{model} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.</source>
        <extracomment>engine/pipelines/reading/layout_model.py</extracomment>
        <translation>{model} n’est pas un modèle de mise en page. PaddlePaddle/PP-DocLayoutV2 en est un.</translation>
    </message>
    <message>
        <source>{model} is not the id of a repository.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{model} n’est pas l’identifiant d’un dépôt.</translation>
    </message>
    <message>
        <source>{model} is ready.</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} est prêt.</translation>
    </message>
    <message>
        <source>{model} is ready. Write your first message.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} est prêt. Écrivez votre premier message.</translation>
    </message>
    <message>
        <source>{model} reads pages line by line and talks about no images. Read them with grus read.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} lit les pages ligne par ligne et ne discute pas d’images. Ouvrez-les dans Lire.</translation>
    </message>
    <message>
        <source>{model} reads text only and does not see images.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} ne lit que du texte et ne voit pas les images.</translation>
    </message>
    <message>
        <source>{model} reads text, not images. Choose a vision model.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>{model} lit du texte, pas des images. Choisissez un modèle de vision.</translation>
    </message>
    <message>
        <source>{model} receives the text of the image.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} reçoit le texte de l’image.</translation>
    </message>
    <message>
        <source>{model} runs on another server, which gives no times of words.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} fonctionne sur un autre serveur, qui ne donne pas les temps des mots.</translation>
    </message>
    <message>
        <source>{model} transcribes {own}, not {language}. Choose a model for that language.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} transcrit {own}, pas {language}. Choisissez un modèle pour cette langue.</translation>
    </message>
    <message>
        <source>{model} was deleted. {size} will be freed in 30 seconds.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} a été supprimé. {size} seront libérés dans 30 secondes.</translation>
    </message>
    <message>
        <source>{model} was removed from the list. Its files were not deleted.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} a été retiré de la liste. Ses fichiers n’ont pas été supprimés.</translation>
    </message>
    <message>
        <source>{names}: unsupported format. Supported: WAV, FLAC, MP3, OGG, Opus, AIFF, AU and CAF.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>{names}&#xa0;: format non pris en charge. Formats pris en charge&#xa0;: WAV, FLAC, MP3, OGG, Opus, AIFF, AU et CAF.</translation>
    </message>
    <message>
        <source>{name} (optional)</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>{name} (facultatif)</translation>
    </message>
    <message>
        <source>{name} answered something that is not OpenAI&apos;s API. Is the address right?</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} a répondu autre chose que l’API d’OpenAI. L’adresse est-elle juste ?</translation>
    </message>
    <message>
        <source>{name} answered with status {status}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} a répondu avec l’état {status}.</translation>
    </message>
    <message>
        <source>{name} answered with status {status}: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} a répondu avec l’état {status} : {error}</translation>
    </message>
    <message>
        <source>{name} answers from another address. Add the address that it leads to.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} répond depuis une autre adresse. Ajoutez l’adresse à laquelle elle mène.</translation>
    </message>
    <message>
        <source>{name} answers: what you send leaves this machine.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>{name} répond : ce que vous envoyez quitte cette machine.</translation>
    </message>
    <message>
        <source>{name} asks you to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} vous demande de vous connecter.</translation>
    </message>
    <message>
        <source>{name} cannot be opened. {why}</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Impossible d’ouvrir {name}. {why}</translation>
    </message>
    <message>
        <source>{name} cannot be opened: it is damaged or password-protected.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Impossible d’ouvrir {name}&#xa0;: le fichier est endommagé ou protégé par mot de passe.</translation>
    </message>
    <message>
        <source>{name} cannot be opened: the file is damaged.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Impossible d’ouvrir {name}&#xa0;: le fichier est endommagé.</translation>
    </message>
    <message>
        <source>{name} cannot be reached: nothing answers at {host}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} est injoignable : rien ne répond sur {host}.</translation>
    </message>
    <message>
        <source>{name} contains no text that can be spoken.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} ne contient aucun texte à lire.</translation>
    </message>
    <message>
        <source>{name} contains no text.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} ne contient pas de texte.</translation>
    </message>
    <message>
        <source>{name} contains no text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/speak.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} ne contient pas de texte. Ouvrez-le d’abord dans Lire.</translation>
    </message>
    <message>
        <source>{name} contains scanned pages without text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} contient des pages numérisées sans texte. Ouvrez-le d’abord dans Lire.</translation>
    </message>
    <message>
        <source>{name} could not be downloaded: {reason}. What arrived is kept.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} n’a pas pu être téléchargé : {reason}. Ce qui est arrivé est conservé.</translation>
    </message>
    <message>
        <source>{name} could not be read as sound ({reason}). {formats} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>Impossible de lire {name} comme un son ({reason}). Formats lisibles&#xa0;: {formats}.</translation>
    </message>
    <message>
        <source>{name} could not be saved: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} n’a pas pu être enregistré : {reason}.</translation>
    </message>
    <message>
        <source>{name} does not know voices again. WavLM models for x-vectors do.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>{name} ne reconnaît pas les voix. Les modèles WavLM pour x-vectors le font.</translation>
    </message>
    <message>
        <source>{name} does not listen. Choose a model that does, openai/whisper-small for example.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{name} ne transcrit pas la parole. Choisissez un modèle qui le fait, par exemple openai/whisper-small.</translation>
    </message>
    <message>
        <source>{name} does not take this: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} ne l’accepte pas : {error}</translation>
    </message>
    <message>
        <source>{name} does not tell speakers apart. Sortformer models do.</source>
        <extracomment>engine/pipelines/listening/speakers.py</extracomment>
        <translation>{name} ne distingue pas les locuteurs. Les modèles Sortformer le font.</translation>
    </message>
    <message>
        <source>{name} ended the connection before the reply was complete.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} a fermé la connexion avant la fin de la réponse.</translation>
    </message>
    <message>
        <source>{name} ended the reply: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} a interrompu la réponse : {error}</translation>
    </message>
    <message>
        <source>{name} has no model {model}, or does not do this.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} n’a pas de modèle {model}, ou ne sait pas faire cela.</translation>
    </message>
    <message>
        <source>{name} has written nothing.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} n’a rien écrit.</translation>
    </message>
    <message>
        <source>{name} has {own} samples a second; {least} to {most} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} a {own} échantillons par seconde&#xa0;; il est possible d’en lire de {least} à {most}.</translation>
    </message>
    <message>
        <source>{name} holds no sound.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} ne contient pas de son.</translation>
    </message>
    <message>
        <source>{name} holds samples that are no numbers. The file is damaged.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} contient des échantillons non valides. Le fichier est endommagé.</translation>
    </message>
    <message>
        <source>{name} ignored response_format: its reply is not JSON.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} a ignoré response_format : sa réponse n’est pas du JSON.</translation>
    </message>
    <message>
        <source>{name} ignored response_format: {where} of its reply does not fit the schema.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} a ignoré response_format : {where} de sa réponse ne suit pas le schéma.</translation>
    </message>
    <message>
        <source>{name} ignored tool_choice: its reply calls no tool.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} a ignoré tool_choice : sa réponse n’appelle aucun outil.</translation>
    </message>
    <message>
        <source>{name} is busy, or its limit is reached. Try again later.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} est occupé, ou sa limite est atteinte. Réessayez plus tard.</translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} est vide.</translation>
    </message>
    <message>
        <source>{name} is larger than 512 MB. Choose a smaller file.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} dépasse 512 Mo. Choisissez un fichier plus petit.</translation>
    </message>
    <message>
        <source>{name} is longer than {longest}. Split it first.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} dure plus de {longest}. Divisez-le d’abord.</translation>
    </message>
    <message>
        <source>{name} is no name for a voice: letters, digits, spaces, dots and dashes, 64 at most.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>{name} n’est pas un nom de voix&#xa0;: lettres, chiffres, espaces, points et tirets, 64 au plus.</translation>
    </message>
    <message>
        <source>{name} is no name of a speaker: up to 40 letters, digits, spaces and dashes.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py</extracomment>
        <translation>{name} n’est pas un nom de locuteur : 40 lettres, chiffres, espaces et tirets au plus.</translation>
    </message>
    <message>
        <source>{name} is not a book that can be read. Choose one of: {kinds}.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} n’est pas un livre lisible. Choisissez parmi : {kinds}.</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <extracomment>engine/media/sound.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} n’est pas un fichier.</translation>
    </message>
    <message>
        <source>{name} is not a file. Drop files, not folders.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} n’est pas un fichier. Déposez des fichiers, pas des dossiers.</translation>
    </message>
    <message>
        <source>{name} is not supported. Attach text, PDFs, images or audio.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} n’est pas pris en charge. Joignez du texte, des PDF, des images ou de l’audio.</translation>
    </message>
    <message>
        <source>{name} is not supported. Choose a {endings} file.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} n’est pas pris en charge. Choisissez un fichier {endings}.</translation>
    </message>
    <message>
        <source>{name} is not the file that was announced. It was deleted.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} n’est pas le fichier annoncé. Il a été supprimé.</translation>
    </message>
    <message>
        <source>{name} is password-protected. Save a copy without a password.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} est protégé par mot de passe. Enregistrez une copie sans mot de passe.</translation>
    </message>
    <message>
        <source>{name} is set</source>
        <extracomment>engine/hub/offline.py</extracomment>
        <translation>{name} est défini</translation>
    </message>
    <message>
        <source>{name} lists no models. Name one by hand.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} n’indique aucun modèle. Saisissez-en un.</translation>
    </message>
    <message>
        <source>{name} refuses the key. Add it again, with the right one.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} refuse la clé. Ajoutez-le de nouveau, avec la bonne.</translation>
    </message>
    <message>
        <source>{name} sent nothing for {seconds} seconds.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} n’a rien envoyé pendant {seconds} secondes.</translation>
    </message>
    <message>
        <source>{name} wants a key. Add it again, with its key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} demande une clé. Ajoutez-le de nouveau, avec sa clé.</translation>
    </message>
    <message numerus="yes">
        <source>{name} was added, with {n} models.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>
            <numerusform>{name} a été ajouté, avec {n} modèle.</numerusform>
            <numerusform>{name} a été ajouté, avec {n} modèles.</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} was not asked, because {why}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} n’a pas été interrogé : {why}.</translation>
    </message>
    <message>
        <source>{name} writes no text. Give it as the layout, and a vision model as the model.</source>
        <extracomment>engine/pipelines/reading/text_lines.py</extracomment>
        <translation>{name} ne produit pas de texte. Choisissez un modèle de vision.</translation>
    </message>
    <message>
        <source>{name}: {level}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>{name}&#xa0;: {level}</translation>
    </message>
    <message>
        <source>{now} now, at most {most} in the last two minutes</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>{now} maintenant, au plus {most} au cours des deux dernières minutes</translation>
    </message>
    <message numerus="yes">
        <source>{n} active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>
            <numerusform>{n} requête en cours.</numerusform>
            <numerusform>{n} requêtes en cours.</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} billion</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} milliards</translation>
    </message>
    <message numerus="yes">
        <source>{n} chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>
            <numerusform>{n} chapitre</numerusform>
            <numerusform>{n} chapitres</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conversations imported.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} conversation importée.</numerusform>
            <numerusform>{n} conversations importées.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>{n} document</numerusform>
            <numerusform>{n} documents</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} document n’a pas pu être lu</numerusform>
            <numerusform>{n} documents n’ont pas pu être lus</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents saved in {folder}.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>
            <numerusform>{n} document enregistré dans {folder}.</numerusform>
            <numerusform>{n} documents enregistrés dans {folder}.</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} downloads per month</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} téléchargements par mois</translation>
    </message>
    <message numerus="yes">
        <source>{n} files</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} fichier</numerusform>
            <numerusform>{n} fichiers</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} files read</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} fichier lu</numerusform>
            <numerusform>{n} fichiers lus</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} libraries</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} bibliothèque</numerusform>
            <numerusform>{n} bibliothèques</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} million</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} millions</translation>
    </message>
    <message numerus="yes">
        <source>{n} not read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py, app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} non lue</numerusform>
            <numerusform>{n} non lues</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>
            <numerusform>{n} page</numerusform>
            <numerusform>{n} pages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages have no text, and no model is here that reads them.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} page n’a pas de texte, et aucun modèle n’est là pour la lire.</numerusform>
            <numerusform>{n} pages n’ont pas de texte, et aucun modèle n’est là pour les lire.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} passages left to embed</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>{n} passage reste à vectoriser</numerusform>
            <numerusform>{n} passages restent à vectoriser</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} places replaced</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>{n} occurrence remplacée</numerusform>
            <numerusform>{n} occurrences remplacées</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} requests are waiting already. Try again later.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>{n} requêtes attendent déjà. Réessayez plus tard.</translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>
            <numerusform>{n} token</numerusform>
            <numerusform>{n} tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} tools</source>
        <extracomment>app/gui/settings/tools.py, app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} outil</numerusform>
            <numerusform>{n} outils</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} were there already.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} était déjà là.</numerusform>
            <numerusform>{n} étaient déjà là.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} words</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>
            <numerusform>{n} mot</numerusform>
            <numerusform>{n} mots</numerusform>
        </translation>
    </message>
    <message>
        <source>{one} and {other}</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>{one} et {other}</translation>
    </message>
    <message>
        <source>{origin} is not a valid origin. Enter one like https://app.example, or * for all.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>{origin} n’est pas une origine valide. Saisissez par exemple https://app.example, ou * pour toutes.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <extracomment>engine/media/documents.py, engine/pipelines/reading/watching.py, engine/pipelines/speaking/pronunciation.py, app/runtime/remote/chat.py</extracomment>
        <translation>Impossible de lire {path}&#xa0;: {reason}.</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>Impossible d’écrire {path}&#xa0;: {reason}.</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}.</source>
        <extracomment>engine/media/audiobook_file.py, engine/media/recordings.py, engine/media/sound.py, engine/pipelines/speaking/passage_store.py, engine/pipelines/speaking/spoken_epub.py</extracomment>
        <translation>Impossible d’écrire {path}&#xa0;: {reason}.</translation>
    </message>
    <message>
        <source>{path} is a folder.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} est un dossier.</translation>
    </message>
    <message>
        <source>{path} is larger than the memory that is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} est plus volumineux que la mémoire libre.</translation>
    </message>
    <message>
        <source>{path} is no text in UTF-8.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{path} n’est pas un texte en UTF-8.</translation>
    </message>
    <message>
        <source>{path} is not the index of a library.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>{path} n’est pas l’index d’une bibliothèque.</translation>
    </message>
    <message>
        <source>{program} (not installed)</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} (non installé)</translation>
    </message>
    <message>
        <source>{program} has its earlier settings again.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} a retrouvé ses réglages précédents.</translation>
    </message>
    <message>
        <source>{program} is disconnected. What you changed in {file} since stays.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} est déconnecté. Ce que vous avez modifié depuis dans {file} est conservé.</translation>
    </message>
    <message>
        <source>{program} is not installed: there is no command {command}. Install it first: {how}</source>
        <extracomment>app/agents/programs.py</extracomment>
        <translation>{program} n’est pas installé : la commande {command} n’existe pas. Installez-le d’abord : {how}</translation>
    </message>
    <message>
        <source>{program} uses this server now.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} utilise maintenant ce serveur.</translation>
    </message>
    <message>
        <source>{program} uses this server now. Enter the key in its settings, too.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} utilise maintenant ce serveur. Saisissez aussi la clé dans ses réglages.</translation>
    </message>
    <message>
        <source>{program} uses this server now. Its earlier settings are kept in {file}.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} utilise maintenant ce serveur. Ses réglages précédents sont conservés dans {file}.</translation>
    </message>
    <message>
        <source>{program} was not connected by Grus: there is nothing to take back.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{program} n’a pas été connecté par Grus : il n’y a rien à annuler.</translation>
    </message>
    <message>
        <source>{rate} tokens/s</source>
        <extracomment>app/gui/bars.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{rate} tokens/s</translation>
    </message>
    <message>
        <source>{reason}. Grus stays offline until it is restarted without it.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{reason}. Grus reste hors ligne jusqu’à un redémarrage sans cette option.</translation>
    </message>
    <message>
        <source>{repo} cannot be saved{where}: {reason}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Impossible d’enregistrer {repo}{where}&#xa0;: {reason}.</translation>
    </message>
    <message>
        <source>{repo} could not be downloaded: {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Impossible de télécharger {repo}&#xa0;: {reason}</translation>
    </message>
    <message>
        <source>{repo} has a file that is larger than this disk or account may hold{where}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} contient un fichier plus gros que ce disque ou ce compte ne le permet{where}.</translation>
    </message>
    <message>
        <source>{repo} has no revision {revision}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} n’a pas de révision {revision}.</translation>
    </message>
    <message>
        <source>{repo} holds no model files.</source>
        <extracomment>engine/hub/download.py, engine/hub/searching.py</extracomment>
        <translation>{repo} ne contient pas de fichiers de modèle.</translation>
    </message>
    <message>
        <source>{repo} holds no tokenizer, and its name, which does not end in -GGUF, tells no other repository. Put a tokenizer.json beside the file.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} ne contient pas de tokenizer, et son nom, qui ne finit pas par -GGUF, n’indique aucun autre dépôt. Placez un tokenizer.json à côté du fichier.</translation>
    </message>
    <message>
        <source>{repo} is gated, and your token does not open it. Accept its terms on {site}/{repo} with the same account, and wait until its makers have let you in.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>L’accès à {repo} est restreint, et votre jeton ne l’ouvre pas. Acceptez ses conditions sur {site}/{repo} avec le même compte, et attendez que ses auteurs vous accordent l’accès.</translation>
    </message>
    <message>
        <source>{repo} is gated. Accept its terms on {site}/{repo}, then {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>L’accès à {repo} est restreint. Acceptez ses conditions sur {site}/{repo}, puis {advice}.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and Hugging Face cannot be reached. Check the network.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} n’est pas sur cet ordinateur et Hugging Face est injoignable. Vérifiez le réseau.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and {why}, so it cannot be downloaded.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} n’est pas sur cet ordinateur et ne peut pas être téléchargé&#xa0;: {why}.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine, and {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} n’est pas sur cet ordinateur. {reason}</translation>
    </message>
    <message>
        <source>{repo} is not the id of a repository.</source>
        <extracomment>engine/hub/client.py, engine/hub/searching.py</extracomment>
        <translation>{repo} n’est pas l’identifiant d’un dépôt.</translation>
    </message>
    <message>
        <source>{repo} needs {needed}, but {there} has only {free} left.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} nécessite {needed}, mais il ne reste que {free} dans {there}.</translation>
    </message>
    <message>
        <source>{share} %</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>{share}&#xa0;%</translation>
    </message>
    <message>
        <source>{size} GB</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{size} Go</translation>
    </message>
    <message>
        <source>{size} KB</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{size} Ko</translation>
    </message>
    <message>
        <source>{size} MB</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{size} Mo</translation>
    </message>
    <message>
        <source>{size} for models, {whole} for Grus in all</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>{size} pour les modèles, {whole} pour Grus en tout</translation>
    </message>
    <message>
        <source>{size} in memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} en mémoire</translation>
    </message>
    <message>
        <source>{size} of experts have no room in memory and stay in the file. Replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} d’experts ne tiennent pas en mémoire et restent dans le fichier. Les réponses sont aussi lentes que le disque.</translation>
    </message>
    <message>
        <source>{size} of memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} de mémoire</translation>
    </message>
    <message>
        <source>{speed} here</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{speed} sur cet ordinateur</translation>
    </message>
    <message>
        <source>{time} h</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} h</translation>
    </message>
    <message>
        <source>{time} left</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>encore {time}</translation>
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
        <translation>{time} au total</translation>
    </message>
    <message>
        <source>{title} (copy)</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>{title} (copie)</translation>
    </message>
    <message>
        <source>{title} has not been read yet.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{title} n’a pas encore été lu.</translation>
    </message>
    <message>
        <source>{title} must be between {low} and {high}.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>{title} doit être entre {low} et {high}.</translation>
    </message>
    <message>
        <source>{tokens} tokens do not fit into the memory for sequences ({limit} MiB). Shorten the prompt, raise the memory limit, or quantize the cache.</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>{tokens} tokens ne tiennent pas dans la mémoire des séquences ({limit} Mio). Raccourcissez le prompt, augmentez la limite de mémoire ou quantifiez le cache.</translation>
    </message>
    <message>
        <source>{tool} failed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} a échoué.</translation>
    </message>
    <message>
        <source>{tool} is asked over the network: {question}</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{tool} est interrogé via le réseau : {question}</translation>
    </message>
    <message>
        <source>{tool} is running.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} est en cours d’exécution.</translation>
    </message>
    <message>
        <source>{tool} was not allowed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} n’a pas été autorisé.</translation>
    </message>
    <message>
        <source>{tool} was stopped.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} a été arrêté.</translation>
    </message>
    <message>
        <source>{tool} was used.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} a été utilisé.</translation>
    </message>
    <message>
        <source>{variable} is set and takes precedence over a token stored here.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{variable} est défini et prévaut sur un jeton stocké ici.</translation>
    </message>
    <message>
        <source>{weights} weights, {talk} KV cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{weights} de poids, {talk} de cache KV</translation>
    </message>
    <message>
        <source>{words} is too much. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>{words}, c’est trop. {how}</translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/results.py</extracomment>
        <translation>«&#xa0;{title}&#xa0;» a été supprimé.</translation>
    </message>
    <message>
        <source>“{title}” was removed from the list. The file was not deleted.</source>
        <extracomment>app/gui/viewmodels/results.py</extracomment>
        <translation>«&#xa0;{title}&#xa0;» a été retiré de la liste. Le fichier n’a pas été supprimé.</translation>
    </message>
    <message>
        <source>“{title}” was removed. The folder and its documents were not changed.</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>« {title} » a été retiré. Le dossier et ses documents n’ont pas été modifiés.</translation>
    </message>
</context>
</TS>
