<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es" sourcelanguage="en">
<context>
    <name>grus</name>
    <message>
        <source>0 always picks the most likely token. Higher values give more varied replies.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>0 elige siempre el token más probable. Los valores más altos dan respuestas más variadas.</translation>
    </message>
    <message>
        <source>2 minutes ago</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>hace 2 minutos</translation>
    </message>
    <message>
        <source>3 to 15 seconds of one voice are best.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Lo ideal son de 3 a 15 segundos de una sola voz.</translation>
    </message>
    <message>
        <source>A Pocket-TTS model speaks one language, which is not chosen: leave it at automatic.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Un modelo Pocket-TTS habla un solo idioma, que no se elige: déjelo en automático.</translation>
    </message>
    <message>
        <source>A cloned voice keeps the pitch and pace of its recording.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Una voz clonada conserva el tono y el ritmo de su grabación.</translation>
    </message>
    <message>
        <source>A fact has at least one word.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>Un dato tiene al menos una palabra.</translation>
    </message>
    <message>
        <source>A fact has at most {most} characters, and this one has {n}.</source>
        <extracomment>app/runtime/memories.py</extracomment>
        <translation>Un dato tiene como máximo {most} caracteres, y este tiene {n}.</translation>
    </message>
    <message>
        <source>A file</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Un archivo</translation>
    </message>
    <message>
        <source>A key is one word of letters, digits and signs.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Una clave es una sola palabra de letras, cifras y signos.</translation>
    </message>
    <message>
        <source>A line for each word: word = how it is said. Phonemes between slashes are for Kokoro.</source>
        <extracomment>app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Una línea por palabra: palabra = cómo se dice. Los fonemas entre barras son para Kokoro.</translation>
    </message>
    <message>
        <source>A model may call these in conversations where you switch them on. You are asked before each call.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Un modelo puede llamarlas en las conversaciones donde las active. Se le pregunta antes de cada llamada.</translation>
    </message>
    <message>
        <source>A model that calls tools may propose a fact. You are asked before it is kept, and can edit or delete it here.</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Un modelo que llama a herramientas puede proponer un dato. Se le pregunta antes de guardarlo, y puede editarlo o eliminarlo aquí.</translation>
    </message>
    <message>
        <source>A new version is downloaded over https only.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Las versiones nuevas solo se descargan por https.</translation>
    </message>
    <message>
        <source>A part of the file is missing: {name}.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>Falta una parte del archivo: {name}.</translation>
    </message>
    <message>
        <source>A prompt goes into the message field, where you can change it before you send it.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Un prompt va al campo del mensaje, donde puede cambiarlo antes de enviarlo.</translation>
    </message>
    <message>
        <source>A recording must be one row of finite samples.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>Una grabación debe ser una sola serie de muestras finitas.</translation>
    </message>
    <message>
        <source>A reply is being written in another conversation. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Se está escribiendo una respuesta en otra conversación. Espera a que termine o detenla.</translation>
    </message>
    <message>
        <source>A reply is being written. Wait for it, or stop it.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>Se está escribiendo una respuesta. Espere a que termine o deténgala.</translation>
    </message>
    <message>
        <source>A saved voice is not sent to a server elsewhere.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>Una voz guardada no se envía a un servidor remoto.</translation>
    </message>
    <message>
        <source>A server&apos;s address holds no password, no question mark and no hash. The key is asked for.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>La dirección de un servidor no contiene contraseña, signo de interrogación ni almohadilla. La clave se pide aparte.</translation>
    </message>
    <message>
        <source>A server&apos;s address is like http://192.168.1.5:8000 or https://example.org/v1.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>La dirección de un servidor es como http://192.168.1.5:8000 o https://example.org/v1.</translation>
    </message>
    <message>
        <source>A server&apos;s name has up to 40 letters, digits, dots and dashes: {name} does not fit.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>El nombre de un servidor tiene hasta 40 letras, cifras, puntos y guiones: {name} no vale.</translation>
    </message>
    <message>
        <source>A step of the engine failed: {kind}: {error}</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>Falló un paso del motor: {kind}: {error}</translation>
    </message>
    <message>
        <source>A system library for sound is missing ({error}). On Debian and Ubuntu: sudo apt-get install libpulse0</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>Falta una biblioteca del sistema para el sonido ({error}). En Debian y Ubuntu: sudo apt-get install libpulse0</translation>
    </message>
    <message>
        <source>A token is one word of letters and digits, such as hf_... on your Hugging Face page.</source>
        <extracomment>engine/hub/token.py</extracomment>
        <translation>Un token es una palabra de letras y números, como hf_... en tu página de Hugging Face.</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring, but the keyring cannot be opened.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Hay un token guardado en el llavero del sistema, pero el llavero no se puede abrir.</translation>
    </message>
    <message>
        <source>A token is stored in the system keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Hay un token guardado en el llavero del sistema.</translation>
    </message>
    <message>
        <source>A token is stored in {file}, which only you can read. No system keyring is available.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Hay un token guardado en {file}, que solo tú puedes leer. No hay ningún llavero del sistema disponible.</translation>
    </message>
    <message>
        <source>A voice needs a name and a recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Una voz necesita un nombre y una grabación.</translation>
    </message>
    <message>
        <source>Above 1, tokens that already occurred become less likely.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Por encima de 1, los tokens que ya han aparecido son menos probables.</translation>
    </message>
    <message>
        <source>Access</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Acceso</translation>
    </message>
    <message>
        <source>Accurate answers and reasoning, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Respuestas precisas y razonamiento, para equipos con 16 GB.</translation>
    </message>
    <message>
        <source>Accurate answers at the speed of a small model: 4 of 26 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Respuestas precisas a la velocidad de un modelo pequeño: 4 000 de 26 000 millones de parámetros activos por token. Para 32 GB.</translation>
    </message>
    <message>
        <source>Accurate everyday answers in more than 100 languages, for machines with 8 to 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Respuestas precisas para el día a día en más de 100 idiomas, para equipos con 8 a 16 GB.</translation>
    </message>
    <message>
        <source>Accurate long answers, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Respuestas largas y precisas, para 32 GB de memoria rápida.</translation>
    </message>
    <message>
        <source>Active requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Solicitudes activas</translation>
    </message>
    <message>
        <source>Add</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Añadir</translation>
    </message>
    <message>
        <source>Add a fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Añadir un dato</translation>
    </message>
    <message>
        <source>Add a fact, and press Enter</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Añada un dato y pulse Intro</translation>
    </message>
    <message>
        <source>Add a folder</source>
        <extracomment>app/gui/libraries/pane.py, app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Añadir carpeta</translation>
    </message>
    <message>
        <source>Add a folder of documents…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Añadir una carpeta de documentos…</translation>
    </message>
    <message>
        <source>Add a model folder</source>
        <extracomment>app/gui/chat/pane.py, app/gui/model_box.py, app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Añadir carpeta de modelos</translation>
    </message>
    <message>
        <source>Add a model folder…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Añadir carpeta de modelos…</translation>
    </message>
    <message>
        <source>Add a server</source>
        <extracomment>app/gui/models/pane.py, app/gui/models/remote_form.py</extracomment>
        <translation>Añadir un servidor</translation>
    </message>
    <message>
        <source>Add an MCP server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Añadir un servidor MCP</translation>
    </message>
    <message>
        <source>Add audio files</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Añadir archivos de audio</translation>
    </message>
    <message>
        <source>Add files</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Añadir archivos</translation>
    </message>
    <message>
        <source>Add files…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Añadir archivos…</translation>
    </message>
    <message>
        <source>Add from JSON</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Añadir desde JSON</translation>
    </message>
    <message>
        <source>Add server</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Añadir servidor</translation>
    </message>
    <message>
        <source>Add tools…</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>Añadir herramientas…</translation>
    </message>
    <message>
        <source>Added from {folder}: {models}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Añadidos desde {folder}: {models}.</translation>
    </message>
    <message>
        <source>Added: {names}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Añadido: {names}.</translation>
    </message>
    <message>
        <source>Added: {names}. Left out: {fields}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Añadido: {names}. Omitido: {fields}.</translation>
    </message>
    <message>
        <source>Address</source>
        <extracomment>app/gui/models/remote_form.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Dirección</translation>
    </message>
    <message>
        <source>Address of the search</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Dirección de la búsqueda</translation>
    </message>
    <message>
        <source>Adds what the file contains. Settings with the same name are replaced.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Añade el contenido del archivo. Los ajustes con el mismo nombre se sustituyen.</translation>
    </message>
    <message>
        <source>All</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Todos</translation>
    </message>
    <message>
        <source>All files of {model} are intact.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Todos los archivos de {model} están intactos.</translation>
    </message>
    <message>
        <source>All pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Todas las páginas</translation>
    </message>
    <message>
        <source>Allow</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Permitir</translation>
    </message>
    <message>
        <source>Allow in this conversation</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Permitir en esta conversación</translation>
    </message>
    <message>
        <source>Allow once</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Permitir una vez</translation>
    </message>
    <message>
        <source>Allow {tool}?</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>¿Permitir {tool}?</translation>
    </message>
    <message>
        <source>Allowed web origins (CORS)</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Orígenes web permitidos (CORS)</translation>
    </message>
    <message>
        <source>Also available as</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>También disponible como</translation>
    </message>
    <message>
        <source>Always</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Siempre</translation>
    </message>
    <message>
        <source>Always allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Permitir siempre</translation>
    </message>
    <message>
        <source>Among how many devices a text model is split, which compute it together. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Entre cuántos dispositivos se reparte un modelo de texto, que lo calculan juntos. Se aplica a los modelos que se carguen desde ahora.</translation>
    </message>
    <message>
        <source>An audiobook is written as {kinds}, not as {ending}.</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>Un audiolibro se escribe como {kinds}, no como {ending}.</translation>
    </message>
    <message>
        <source>Analyzing the recording.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Analizando la grabación.</translation>
    </message>
    <message>
        <source>Another name</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>Otro nombre</translation>
    </message>
    <message>
        <source>Another process is making this audiobook now: {folder}.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>Otro proceso está creando ahora este audiolibro: {folder}.</translation>
    </message>
    <message>
        <source>Answers next: {models}.</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Responde después: {models}.</translation>
    </message>
    <message>
        <source>Answers the next message, too.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>También responde al próximo mensaje.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Apariencia</translation>
    </message>
    <message>
        <source>Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Se aplica tras reiniciar Grus.</translation>
    </message>
    <message>
        <source>Architecture</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Arquitectura</translation>
    </message>
    <message>
        <source>Arguments</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Argumentos</translation>
    </message>
    <message>
        <source>Ask</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Preguntar</translation>
    </message>
    <message>
        <source>Ask about images: a vision model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Preguntar sobre imágenes: un modelo con visión.</translation>
    </message>
    <message>
        <source>Ask anything</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Pregunta lo que quieras</translation>
    </message>
    <message>
        <source>Ask in Chat</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Preguntar en Chat</translation>
    </message>
    <message>
        <source>Ask your documents</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Pregunte a sus documentos</translation>
    </message>
    <message>
        <source>Asking the server for its models.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Preguntando al servidor por sus modelos.</translation>
    </message>
    <message>
        <source>Asking the tool servers.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Consultando los servidores de herramientas.</translation>
    </message>
    <message>
        <source>Asking {name} where to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Preguntando a {name} dónde iniciar sesión.</translation>
    </message>
    <message>
        <source>At most {n} models are compared.</source>
        <extracomment>app/gui/viewmodels/chat/comparison.py</extracomment>
        <translation>Se comparan como máximo {n} modelos.</translation>
    </message>
    <message>
        <source>Attach</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Adjuntar</translation>
    </message>
    <message>
        <source>Attach a resource</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>Adjuntar un recurso</translation>
    </message>
    <message>
        <source>Attach a resource…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>Adjuntar un recurso…</translation>
    </message>
    <message>
        <source>Attach files</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Adjuntar archivos</translation>
    </message>
    <message>
        <source>Attachments</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Archivos adjuntos</translation>
    </message>
    <message>
        <source>Audio</source>
        <extracomment>app/gui/listen/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Audio</translation>
    </message>
    <message>
        <source>Audiobooks are written through PyAV, which is missing here: pip install av</source>
        <extracomment>engine/media/audiobook_file.py</extracomment>
        <translation>Los audiolibros se escriben con PyAV, que falta aquí: pip install av</translation>
    </message>
    <message>
        <source>Automatic</source>
        <extracomment>app/gui/viewmodels/settings.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Automático</translation>
    </message>
    <message>
        <source>Backend</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Backend</translation>
    </message>
    <message>
        <source>Backend and device apply to models loaded from now on. The memory limit applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>El backend y el dispositivo se aplican a los modelos que se carguen a partir de ahora. El límite de memoria se aplica al reiniciar Grus.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>Broad knowledge and quick answers: 3 of 35 billion parameters are active per token. For 32 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Amplios conocimientos y respuestas rápidas: 3 000 de 35 000 millones de parámetros activos por token. Desde 32 GB.</translation>
    </message>
    <message>
        <source>CUDA pack {version} is installed.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>El paquete CUDA {version} está instalado.</translation>
    </message>
    <message>
        <source>Calculator</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Calculadora</translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>app/gui/chat/server_items.py, app/gui/models/remote_form.py, app/gui/read/pane.py, app/gui/settings/cuda_pack.py, app/gui/settings/pane.py, app/gui/settings/tools.py, app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Cancel editing</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Cancelar la edición</translation>
    </message>
    <message>
        <source>Cancel reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Cancelar la lectura</translation>
    </message>
    <message>
        <source>Cancel the selected request</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Cancelar la solicitud seleccionada</translation>
    </message>
    <message>
        <source>Caption</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Leyenda</translation>
    </message>
    <message>
        <source>Capture part of the screen</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Capturar parte de la pantalla</translation>
    </message>
    <message>
        <source>Chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Capítulos</translation>
    </message>
    <message>
        <source>Chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Gráfico</translation>
    </message>
    <message>
        <source>Chat</source>
        <extracomment>app/gui/chat/actions.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Chat with this model</source>
        <extracomment>app/gui/models/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Chatear con este modelo</translation>
    </message>
    <message>
        <source>Chatterbox does not understand the instruction {words}. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox no entiende la instrucción {words}. {how}</translation>
    </message>
    <message>
        <source>Chatterbox has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Chatterbox no tiene la voz {name}. Tiene: {voices}.</translation>
    </message>
    <message>
        <source>Check for new versions of Grus when it starts?</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>¿Buscar versiones nuevas de Grus al iniciarlo?</translation>
    </message>
    <message>
        <source>Check for new versions when Grus starts</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Buscar versiones nuevas al iniciar Grus</translation>
    </message>
    <message>
        <source>Check now</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Buscar ahora</translation>
    </message>
    <message>
        <source>Checking for a new version failed: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>No se pudo buscar una versión nueva: {reason}.</translation>
    </message>
    <message>
        <source>Checking for a new version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Buscando una versión nueva.</translation>
    </message>
    <message>
        <source>Checking the keyring.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Comprobando el llavero.</translation>
    </message>
    <message>
        <source>Checking this machine.</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Comprobando este equipo.</translation>
    </message>
    <message>
        <source>Choose</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Elegir</translation>
    </message>
    <message>
        <source>Choose a file</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Elegir un archivo</translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <extracomment>app/gui/read/watch.py, app/gui/settings/speculation.py, app/gui/settings/tools.py</extracomment>
        <translation>Elegir una carpeta</translation>
    </message>
    <message>
        <source>Choose a folder for downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Elegir una carpeta para los modelos descargados</translation>
    </message>
    <message>
        <source>Choose a model first, in the menu above the conversation.</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Elige primero un modelo en el menú que está sobre la conversación.</translation>
    </message>
    <message>
        <source>Choose a preset voice or a recording, not both.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Elige una voz predefinida o una grabación, no ambas.</translation>
    </message>
    <message>
        <source>Choose either a preset voice or a cloned one, not both.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py, engine/pipelines/speaking/spark.py</extracomment>
        <translation>Elige una voz predefinida o una clonada, no ambas.</translation>
    </message>
    <message>
        <source>Choose libraries…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Elegir bibliotecas…</translation>
    </message>
    <message>
        <source>Choose the folder of a draft model</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Elegir la carpeta de un modelo borrador</translation>
    </message>
    <message>
        <source>Choose the model</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Elegir el modelo</translation>
    </message>
    <message>
        <source>Choose the reply to continue with.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Elija la respuesta con la que continuar.</translation>
    </message>
    <message>
        <source>Choose tools…</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Elegir herramientas…</translation>
    </message>
    <message>
        <source>Clean up dictation</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Corregir el dictado</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/models/pane.py</extracomment>
        <translation>Borrar la búsqueda</translation>
    </message>
    <message>
        <source>Click to name the speaker.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Haga clic para dar nombre al hablante.</translation>
    </message>
    <message>
        <source>Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Haz clic para reproducir.</translation>
    </message>
    <message>
        <source>Clones a voice from a recording of a few seconds.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Clona una voz a partir de una grabación de unos segundos.</translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>app/gui/chat/offer.py, app/gui/logview.py, app/gui/palette.py</extracomment>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Close the preview</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Cerrar la vista previa</translation>
    </message>
    <message>
        <source>Close the search</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>Cerrar la búsqueda</translation>
    </message>
    <message>
        <source>Close this message</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Cerrar este mensaje</translation>
    </message>
    <message>
        <source>Close window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Cerrar la ventana</translation>
    </message>
    <message>
        <source>Code</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/preview_panel.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Código</translation>
    </message>
    <message>
        <source>Code and long chains of tool calls: 3 of 30 billion parameters are active per token. For 32 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Código y largas cadenas de llamadas a herramientas: 3 000 de 30 000 millones de parámetros activos por token. Para 32 GB.</translation>
    </message>
    <message>
        <source>Colours</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Colores</translation>
    </message>
    <message>
        <source>Command or address</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Comando o dirección</translation>
    </message>
    <message>
        <source>Command palette</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Paleta de comandos</translation>
    </message>
    <message>
        <source>Compare models</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Comparar modelos</translation>
    </message>
    <message>
        <source>Compute</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>Computes expressions.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Calcula expresiones.</translation>
    </message>
    <message>
        <source>Connect an agent</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Conectar un agente</translation>
    </message>
    <message>
        <source>Connect from</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Conectar desde</translation>
    </message>
    <message>
        <source>Connect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>Conectar {program}</translation>
    </message>
    <message>
        <source>Context</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Contexto</translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Continuar</translation>
    </message>
    <message>
        <source>Continue reading</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Continuar la lectura</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuar la respuesta</translation>
    </message>
    <message>
        <source>Continue with the first reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuar con la primera respuesta</translation>
    </message>
    <message>
        <source>Continue with the second reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuar con la segunda respuesta</translation>
    </message>
    <message>
        <source>Continue with the third reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Continuar con la tercera respuesta</translation>
    </message>
    <message>
        <source>Continue with this</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Continuar con esta</translation>
    </message>
    <message>
        <source>Conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/transcript.py</extracomment>
        <translation>Conversación</translation>
    </message>
    <message>
        <source>Conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>Conversaciones</translation>
    </message>
    <message>
        <source>Conversations, facts, results, voices and settings as one file. Server keys, the Hugging Face token and models stay here.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Conversaciones, datos, resultados, voces y ajustes en un solo archivo. Las claves del servidor, el token de Hugging Face y los modelos se quedan aquí.</translation>
    </message>
    <message>
        <source>Conversations, results and voices</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Conversaciones, resultados y voces</translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py</extracomment>
        <translation>Copiado.</translation>
    </message>
    <message>
        <source>Copy</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/dictation_key.py, app/gui/logview.py</extracomment>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Copy as spoken</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>Copiar lo dicho</translation>
    </message>
    <message>
        <source>Copy snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Copiar el fragmento</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <extracomment>app/gui/server/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Copiar la dirección</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Copiar el código</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Copiar la clave</translation>
    </message>
    <message>
        <source>Copy the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Copiar el último código</translation>
    </message>
    <message>
        <source>Copy the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Copiar el mensaje</translation>
    </message>
    <message>
        <source>Copy the region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Copiar la región</translation>
    </message>
    <message>
        <source>Copy the text</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Copiar el texto</translation>
    </message>
    <message>
        <source>Could not be read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>No se pudo leer</translation>
    </message>
    <message>
        <source>Could not delete: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>No se pudo eliminar: {error}.</translation>
    </message>
    <message>
        <source>Could not save: {error}.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>No se pudo guardar: {error}.</translation>
    </message>
    <message>
        <source>Create key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Crear clave</translation>
    </message>
    <message>
        <source>Creates a voice from a description.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Crea una voz a partir de una descripción.</translation>
    </message>
    <message>
        <source>Creative</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Creativo</translation>
    </message>
    <message>
        <source>Damaged: {files}. Delete {model} and download it again.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Dañado: {files}. Elimina {model} y descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Oscuro</translation>
    </message>
    <message>
        <source>Date and time</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Fecha y hora</translation>
    </message>
    <message>
        <source>Default</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/speak/pane.py</extracomment>
        <translation>Predeterminado</translation>
    </message>
    <message>
        <source>Default text size</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Tamaño de texto predeterminado</translation>
    </message>
    <message>
        <source>Defaults of this model</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Valores predeterminados de este modelo</translation>
    </message>
    <message>
        <source>Delete</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Eliminar</translation>
    </message>
    <message>
        <source>Delete all</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Eliminar todo</translation>
    </message>
    <message>
        <source>Delete all conversations, results, voices, files and settings of Grus? This cannot be undone.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>¿Eliminar todas las conversaciones, resultados, voces, archivos y ajustes de Grus? Esta acción no se puede deshacer.</translation>
    </message>
    <message>
        <source>Delete all now</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Eliminar todo ahora</translation>
    </message>
    <message>
        <source>Delete the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Eliminar la conversación</translation>
    </message>
    <message>
        <source>Delete the key</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Eliminar la clave</translation>
    </message>
    <message>
        <source>Delete the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Eliminar el mensaje</translation>
    </message>
    <message>
        <source>Delete the model</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Eliminar el modelo</translation>
    </message>
    <message>
        <source>Delete the preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Eliminar el preajuste</translation>
    </message>
    <message>
        <source>Delete the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Eliminar la voz</translation>
    </message>
    <message>
        <source>Delete this fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Eliminar este dato</translation>
    </message>
    <message>
        <source>Describe the voice: this VoiceDesign model makes one from instructions.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Describe la voz: este modelo VoiceDesign la crea a partir de instrucciones.</translation>
    </message>
    <message>
        <source>Detect language</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Detectar idioma</translation>
    </message>
    <message>
        <source>Device</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Dictate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Dictar</translation>
    </message>
    <message>
        <source>Dictate and talk: a speech recognition model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Dictar y conversar: un modelo de reconocimiento de voz.</translation>
    </message>
    <message>
        <source>Dictating. Press again to stop.</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Dictando. Pulsa de nuevo para detener.</translation>
    </message>
    <message>
        <source>Dictation</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Dictado</translation>
    </message>
    <message>
        <source>Dictation into other apps needs a desktop. In a message, Ctrl+Shift+V dictates.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>El dictado en otras aplicaciones necesita un escritorio. En un mensaje, Ctrl+Mayús+V dicta.</translation>
    </message>
    <message>
        <source>Dictation key</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Tecla de dictado</translation>
    </message>
    <message>
        <source>Discard</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Descartar</translation>
    </message>
    <message>
        <source>Disconnect {program}</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>Desconectar {program}</translation>
    </message>
    <message>
        <source>Disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Document reading (OCR)</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Lectura de documentos (OCR)</translation>
    </message>
    <message>
        <source>Document search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Búsqueda en documentos</translation>
    </message>
    <message>
        <source>Documents</source>
        <extracomment>app/gui/read/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Documentos</translation>
    </message>
    <message>
        <source>Documents that could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Documentos que no se pudieron leer</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>No permitir</translation>
    </message>
    <message>
        <source>Done</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Listo</translation>
    </message>
    <message>
        <source>Download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/settings/cuda_pack.py, app/gui/settings/updates.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Descargar</translation>
    </message>
    <message>
        <source>Download a model first.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>Descargue primero un modelo.</translation>
    </message>
    <message>
        <source>Download, pause or resume</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Descargar, pausar o reanudar</translation>
    </message>
    <message>
        <source>Downloaded models</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Modelos descargados</translation>
    </message>
    <message>
        <source>Downloading</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Descargando</translation>
    </message>
    <message>
        <source>Downloading {model} from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Descargando {model} de Hugging Face.</translation>
    </message>
    <message>
        <source>Downloading {model}: {done} of {total}, about {left} s left.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>Descargando {model}: {done} de {total}, quedan unos {left} s.</translation>
    </message>
    <message>
        <source>Downloading: {done} of {total}</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py, app/gui/viewmodels/updates.py</extracomment>
        <translation>Descarga: {done} de {total}</translation>
    </message>
    <message>
        <source>Draft model</source>
        <extracomment>app/gui/settings/speculation.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Modelo borrador</translation>
    </message>
    <message>
        <source>Draft tokens from</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Tokens borrador de</translation>
    </message>
    <message>
        <source>Draw a box around the area to read. Press Esc to cancel.</source>
        <extracomment>app/gui/read/snip.py</extracomment>
        <translation>Dibuja un recuadro alrededor del área que se va a leer. Pulsa Esc para cancelar.</translation>
    </message>
    <message>
        <source>Drawn at {drawn} instead of {wanted} dots an inch, because the page is so large.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Dibujada a {drawn} en lugar de {wanted} puntos por pulgada porque la página es muy grande.</translation>
    </message>
    <message>
        <source>Drop a folder of documents here. It is read and searched on this machine, and Chat answers from it and says where.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Suelte aquí una carpeta de documentos. Se lee y se busca en este equipo; Chat responde a partir de ella e indica dónde.</translation>
    </message>
    <message>
        <source>Drop a recording here, or record from the microphone and read along.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Suelta aquí una grabación, o graba con el micrófono y sigue el texto.</translation>
    </message>
    <message>
        <source>Drop documents, photos or scans here, paste an image, or capture part of the screen.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Suelta aquí documentos, fotos o escaneos, pega una imagen o captura parte de la pantalla.</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Duplicar</translation>
    </message>
    <message>
        <source>Duplicate the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Duplicar la conversación</translation>
    </message>
    <message>
        <source>Each query goes to {address}.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Cada consulta va a {address}.</translation>
    </message>
    <message>
        <source>Earlier</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Anteriores</translation>
    </message>
    <message>
        <source>Edit</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Editar</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Editar el mensaje</translation>
    </message>
    <message>
        <source>Editing a message. The original stays as another branch.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Editando un mensaje. El original se conserva en otra rama.</translation>
    </message>
    <message>
        <source>Editing the reply.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Editando la respuesta.</translation>
    </message>
    <message>
        <source>Embedding</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Embeddings</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s defaults.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Los campos vacíos usan los valores predeterminados del modelo.</translation>
    </message>
    <message>
        <source>Empty fields use the model&apos;s own defaults. Settings of a conversation take precedence.</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Los campos vacíos usan los valores predeterminados del modelo. Los ajustes de una conversación tienen prioridad.</translation>
    </message>
    <message>
        <source>End</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Finalizar</translation>
    </message>
    <message>
        <source>End Talk</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Finalizar la conversación por voz</translation>
    </message>
    <message>
        <source>End Talk (Esc)</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Finalizar la conversación por voz (Esc)</translation>
    </message>
    <message>
        <source>Enter a command, such as npx -y @modelcontextprotocol/server-memory, or an address.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Escriba un comando, como npx -y @modelcontextprotocol/server-memory, o una dirección.</translation>
    </message>
    <message>
        <source>Enter a share like 70 %, or a size like 12 GB.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Introduce un porcentaje como 70 % o un tamaño como 12 GB.</translation>
    </message>
    <message>
        <source>Enter the name of a model, or choose a folder. Until then nothing is drafted.</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>Escriba el nombre de un modelo o elija una carpeta. Hasta entonces no hay tokens borrador.</translation>
    </message>
    <message>
        <source>Enter tool result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Introducir el resultado de la herramienta</translation>
    </message>
    <message>
        <source>Errors and crashes of Grus on this machine. The log contains nothing that you write, say or read, and is never sent anywhere.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Errores y fallos de Grus en este equipo. El registro no contiene nada de lo que escribes, dices o lees, y nunca se envía a ningún sitio.</translation>
    </message>
    <message>
        <source>Errors and crashes, stored on this machine. Export the log to get help.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Errores y fallos, guardados en este equipo. Exporta el registro para obtener ayuda.</translation>
    </message>
    <message>
        <source>Even broader knowledge and quick answers: 3 of 80 billion parameters are active per token. For 80 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Conocimientos aún más amplios y respuestas rápidas: 3 000 de 80 000 millones de parámetros activos por token. Desde 80 GB.</translation>
    </message>
    <message>
        <source>Everyday questions in more than 100 languages, for machines with 8 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Preguntas cotidianas en más de 100 idiomas, para equipos con 8 GB.</translation>
    </message>
    <message>
        <source>Everything</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Todo</translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Todo está guardado de nuevo.</translation>
    </message>
    <message>
        <source>Everything stays on this machine</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Todo se queda en este equipo</translation>
    </message>
    <message>
        <source>Everything was deleted. Models are still on this machine.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Se ha eliminado todo. Los modelos siguen en este equipo.</translation>
    </message>
    <message>
        <source>Export</source>
        <extracomment>app/gui/chat/actions.py, app/gui/listen/pane.py, app/gui/logview.py, app/gui/read/pane.py</extracomment>
        <translation>Exportar</translation>
    </message>
    <message>
        <source>Export all</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Exportar todo</translation>
    </message>
    <message>
        <source>Export all conversations</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exportar todas las conversaciones</translation>
    </message>
    <message>
        <source>Export and import</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Exportar e importar</translation>
    </message>
    <message>
        <source>Export as</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Exportar como</translation>
    </message>
    <message>
        <source>Export as JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exportar como JSON</translation>
    </message>
    <message>
        <source>Export as Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exportar como Markdown</translation>
    </message>
    <message>
        <source>Export as PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exportar como PDF</translation>
    </message>
    <message>
        <source>Export everything</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Exportar todo</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Exportar la conversación</translation>
    </message>
    <message>
        <source>Export the log</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Exportar el registro</translation>
    </message>
    <message>
        <source>Fact</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Dato</translation>
    </message>
    <message>
        <source>Fact memory</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Memoria de datos</translation>
    </message>
    <message>
        <source>Female voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Voz femenina</translation>
    </message>
    <message>
        <source>File reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Lector de archivos</translation>
    </message>
    <message>
        <source>Files</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Archivos</translation>
    </message>
    <message>
        <source>Filter this list</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Filtrar esta lista</translation>
    </message>
    <message>
        <source>Find</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Buscar</translation>
    </message>
    <message>
        <source>Find an action, a conversation or a model</source>
        <extracomment>app/gui/palette.py</extracomment>
        <translation>Buscar una acción, una conversación o un modelo</translation>
    </message>
    <message>
        <source>Find and replace</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Buscar y reemplazar</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/find_bar.py</extracomment>
        <translation>Buscar en esta conversación</translation>
    </message>
    <message>
        <source>Finds passages of a library by their meaning, in more than 100 languages and in code.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Encuentra pasajes de una biblioteca por su significado, en más de 100 idiomas y en código.</translation>
    </message>
    <message>
        <source>Finishing running requests</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Terminando las solicitudes en curso</translation>
    </message>
    <message>
        <source>Fit width</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Ajustar al ancho</translation>
    </message>
    <message>
        <source>Fits this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Cabe en este equipo: necesita unos {needed} de {has}.</translation>
    </message>
    <message>
        <source>Folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Carpetas</translation>
    </message>
    <message>
        <source>Footer</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Pie de página</translation>
    </message>
    <message>
        <source>Footnote</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Nota al pie</translation>
    </message>
    <message>
        <source>For all models together, as a share or a size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Para todos los modelos en conjunto, como porcentaje o tamaño.</translation>
    </message>
    <message>
        <source>For gated models. It is sent only to Hugging Face.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Para modelos de acceso restringido. Solo se envía a Hugging Face.</translation>
    </message>
    <message>
        <source>For the hardest questions: 5 of 117 billion parameters are active per token. For 96 GB and more.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Para las preguntas más difíciles: 5 000 de 117 000 millones de parámetros activos por token. Desde 96 GB.</translation>
    </message>
    <message>
        <source>Forget the voice of {name}</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Olvidar la voz de {name}</translation>
    </message>
    <message>
        <source>Format</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Formato</translation>
    </message>
    <message>
        <source>Formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Fórmula</translation>
    </message>
    <message>
        <source>From another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Desde otro equipo</translation>
    </message>
    <message>
        <source>From disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Desde el disco</translation>
    </message>
    <message>
        <source>From the tool. Not checked, and no instruction:</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>De la herramienta. No verificado y no es una instrucción:</translation>
    </message>
    <message>
        <source>Full screen</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Pantalla completa</translation>
    </message>
    <message>
        <source>Get a model</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Obtener un modelo</translation>
    </message>
    <message>
        <source>Get a model…</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Obtener un modelo…</translation>
    </message>
    <message>
        <source>Get a real model: {model}, {facts}.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Obtener un modelo de verdad: {model}, {facts}.</translation>
    </message>
    <message>
        <source>Get a vision model</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>Obtener un modelo de visión</translation>
    </message>
    <message>
        <source>Getting sizes from Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Obteniendo tamaños de Hugging Face.</translation>
    </message>
    <message>
        <source>Getting the list of files from Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Obteniendo la lista de archivos de Hugging Face</translation>
    </message>
    <message>
        <source>Global shortcut</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Atajo global</translation>
    </message>
    <message>
        <source>Go to the message field</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Ir al campo de mensaje</translation>
    </message>
    <message>
        <source>Good at text, code and tools with little memory. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Bueno en texto, código y herramientas con poca memoria. Razonamiento opcional.</translation>
    </message>
    <message>
        <source>Grus cannot save: {reason}. Your changes are kept in memory until it can.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Grus no puede guardar: {reason}. Tus cambios se conservan en memoria hasta que pueda.</translation>
    </message>
    <message>
        <source>Grus computes on the CPU. To compute on the NVIDIA GPU, it needs the CUDA pack: a download of {size}.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Grus calcula en la CPU. Para calcular en la GPU NVIDIA necesita el paquete CUDA: una descarga de {size}.</translation>
    </message>
    <message>
        <source>Grus does not look for a new version: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Grus no busca una versión nueva: {reason}.</translation>
    </message>
    <message>
        <source>Grus does not support the architecture of this model.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Grus no admite la arquitectura de este modelo.</translation>
    </message>
    <message>
        <source>Grus ended unexpectedly last time. Nothing was deleted.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Grus se cerró inesperadamente la última vez. No se ha eliminado nada.</translation>
    </message>
    <message>
        <source>Grus has no accounts and sends nothing on its own. All of this is stored only on this machine.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus no tiene cuentas y no envía nada por su cuenta. Todo esto se guarda solo en este equipo.</translation>
    </message>
    <message>
        <source>Grus listens again when it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Grus vuelve a escuchar cuando termina de hablar.</translation>
    </message>
    <message>
        <source>Grus never changes files in these folders.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Grus nunca modifica los archivos de estas carpetas.</translation>
    </message>
    <message>
        <source>Grus was started with --offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>Grus se inició con --offline</translation>
    </message>
    <message>
        <source>Grus was told to work offline</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>Grus debe trabajar sin conexión</translation>
    </message>
    <message>
        <source>Grus {version} is available.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} está disponible.</translation>
    </message>
    <message>
        <source>Grus {version} is the newest version.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Grus {version} es la versión más reciente.</translation>
    </message>
    <message>
        <source>HTML</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>HTML</translation>
    </message>
    <message>
        <source>Have replies and texts read aloud: a text-to-speech model.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Escuchar respuestas y textos en voz alta: un modelo de texto a voz.</translation>
    </message>
    <message>
        <source>Header</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Encabezado</translation>
    </message>
    <message>
        <source>Heading</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Título</translation>
    </message>
    <message>
        <source>Headphones</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Auriculares</translation>
    </message>
    <message>
        <source>Hide reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Ocultar el razonamiento</translation>
    </message>
    <message>
        <source>Hide the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Ocultar la llamada</translation>
    </message>
    <message>
        <source>Hide tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ocultar herramientas</translation>
    </message>
    <message>
        <source>High</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Alto</translation>
    </message>
    <message>
        <source>High contrast</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Alto contraste</translation>
    </message>
    <message>
        <source>History</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Historial</translation>
    </message>
    <message>
        <source>Hold it, speak, and let it go: the text appears at the cursor, in any app. Clear the field for none.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Manténgala pulsada, hable y suéltela: el texto aparece en el cursor, en cualquier aplicación. Vacíe el campo para no usar ninguna.</translation>
    </message>
    <message>
        <source>How many threads of the CPU compute without mains power. Applies after a restart of Grus.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Cuántos hilos de la CPU calculan sin corriente eléctrica. Se aplica al reiniciar Grus.</translation>
    </message>
    <message>
        <source>How many times a text model is loaded, on a device each, for many requests at once. Applies to models loaded from now on.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Cuántas veces se carga un modelo de texto, cada una en un dispositivo, para muchas solicitudes a la vez. Se aplica a los modelos que se carguen a partir de ahora.</translation>
    </message>
    <message>
        <source>How much of the disk may hold weights that were prepared for this CPU. Such a model opens at once the next time.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Cuánto del disco pueden ocupar los pesos que se prepararon para este procesador. Un modelo así se abre al instante la próxima vez.</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>Hugging Face answered with status {status}. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face respondió con el estado {status}. Inténtalo más tarde.</translation>
    </message>
    <message>
        <source>Hugging Face cannot be reached. Check the network, then try again.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>No se puede acceder a Hugging Face. Comprueba la red e inténtalo de nuevo.</translation>
    </message>
    <message>
        <source>Hugging Face does not know your token (status 401). Make a new one on its page, then {advice}. `grus token remove` continues without one.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face no reconoce tu token (estado 401). Crea uno nuevo en su página y después {advice}. `grus token remove` continúa sin token.</translation>
    </message>
    <message>
        <source>Hugging Face has no repository {repo}, or it is private. For a private one, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face no tiene el repositorio {repo}, o es privado. Si es privado, {advice}.</translation>
    </message>
    <message>
        <source>Hugging Face is not asked: {why}.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>No se consulta Hugging Face: {why}.</translation>
    </message>
    <message>
        <source>Hugging Face refused access to {repo} (status {status}). To be let in, {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face denegó el acceso a {repo} (estado {status}). Para acceder, {advice}.</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in some minutes.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face no acepta más solicitudes desde aquí (estado 429). Inténtalo de nuevo en unos minutos.</translation>
    </message>
    <message>
        <source>Hugging Face takes no more requests from here (status 429). Try again in {n} s.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face no acepta más solicitudes desde aquí (estado 429). Inténtalo de nuevo en {n} s.</translation>
    </message>
    <message>
        <source>Hugging Face token</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py</extracomment>
        <translation>Token de Hugging Face</translation>
    </message>
    <message>
        <source>Import an archive</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Importar un archivo de Grus</translation>
    </message>
    <message>
        <source>Import conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Importar conversación</translation>
    </message>
    <message>
        <source>Imported</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Importada</translation>
    </message>
    <message>
        <source>Importing: {done} of {total} conversations.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Importando: {done} de {total} conversaciones.</translation>
    </message>
    <message>
        <source>In addition to the system&apos;s text size.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Además del tamaño de texto del sistema.</translation>
    </message>
    <message>
        <source>In memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>En memoria</translation>
    </message>
    <message>
        <source>In tokens. At this limit the model stops reasoning and answers.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>En tokens. Al llegar a este límite, el modelo deja de razonar y responde.</translation>
    </message>
    <message>
        <source>In tokens. Empty: up to the context length.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>En tokens. Vacío: hasta la longitud del contexto.</translation>
    </message>
    <message>
        <source>Included with Grus</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Incluido con Grus</translation>
    </message>
    <message>
        <source>Incomplete</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Incompleto</translation>
    </message>
    <message>
        <source>Install</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Instalar</translation>
    </message>
    <message>
        <source>Install and restart</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Instalar y reiniciar</translation>
    </message>
    <message>
        <source>Install it as you installed Grus, for example: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>Instálela como instaló Grus, por ejemplo: {command}</translation>
    </message>
    <message>
        <source>Instructions</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/speak/pane.py</extracomment>
        <translation>Instrucciones</translation>
    </message>
    <message>
        <source>Interrupt</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Interrumpir</translation>
    </message>
    <message>
        <source>Interrupt the voice</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Interrumpir la voz</translation>
    </message>
    <message>
        <source>It does not contain server keys, the Hugging Face token or models.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>No contiene las claves del servidor, el token de Hugging Face ni los modelos.</translation>
    </message>
    <message>
        <source>It has changed since you allowed it.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Ha cambiado desde que la permitió.</translation>
    </message>
    <message>
        <source>It is not clear which way up this page is. Turn it if the text makes no sense.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>No está claro cuál es la orientación de esta página. Gírala si el texto no tiene sentido.</translation>
    </message>
    <message>
        <source>JSON</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>JSON</translation>
    </message>
    <message>
        <source>Jump to the latest message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Ir al último mensaje</translation>
    </message>
    <message>
        <source>Jump to the latest message (Ctrl+End)</source>
        <extracomment>app/gui/chat/transcript.py</extracomment>
        <translation>Ir al último mensaje (Ctrl+Fin)</translation>
    </message>
    <message>
        <source>Key</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Clave</translation>
    </message>
    <message>
        <source>Key, if it needs one</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Clave, si hace falta</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <extracomment>app/gui/palette.py, app/gui/window.py</extracomment>
        <translation>Atajos de teclado</translation>
    </message>
    <message>
        <source>Keys</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Claves</translation>
    </message>
    <message>
        <source>Known voices</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Voces conocidas</translation>
    </message>
    <message>
        <source>Knows more than its speed suggests: 1.5 of 8 billion parameters are active per token. For 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Sabe más de lo que sugiere su velocidad: 1500 de 8000 millones de parámetros activos por token. Para 16 GB.</translation>
    </message>
    <message>
        <source>Knows the voices that you named in the next recording, beside a model that tells speakers apart.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Reconoce en la siguiente grabación las voces que ha nombrado, junto a un modelo que distingue a los hablantes.</translation>
    </message>
    <message>
        <source>Kokoro does not speak {language} here. It speaks: {known}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro no habla {language} aquí. Habla: {known}.</translation>
    </message>
    <message>
        <source>Kokoro has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro no tiene la voz {name}. Tiene: {voices}.</translation>
    </message>
    <message>
        <source>Kokoro has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro tiene voces propias y no clona. Para clonar, elige un modelo Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>Kokoro needs the program espeak-ng, which tells how words are pronounced. Install it (Debian: apt install espeak-ng, macOS: brew install espeak-ng), or choose another voice.</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>Kokoro necesita el programa espeak-ng, que indica cómo se pronuncian las palabras. Instálalo (Debian: apt install espeak-ng, macOS: brew install espeak-ng) o elige otra voz.</translation>
    </message>
    <message>
        <source>Kokoro takes no instructions. Its voices differ in tone.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>Kokoro no admite instrucciones. Sus voces se distinguen por el tono.</translation>
    </message>
    <message>
        <source>Language</source>
        <extracomment>app/gui/settings/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Idioma</translation>
    </message>
    <message>
        <source>Larger text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Texto más grande</translation>
    </message>
    <message>
        <source>Leave empty if the server needs none</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Dejar vacío si el servidor no la necesita</translation>
    </message>
    <message>
        <source>Leave out tokens less likely than this share of the most likely one.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Descarta los tokens menos probables que esta fracción del más probable.</translation>
    </message>
    <message>
        <source>Left out, because they are malformed: {names}.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>Omitidas por estar mal formadas: {names}.</translation>
    </message>
    <message>
        <source>Level</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Nivel</translation>
    </message>
    <message>
        <source>Libraries</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/libraries/pane.py, app/gui/pane.py</extracomment>
        <translation>Bibliotecas</translation>
    </message>
    <message>
        <source>Licence</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Licencia</translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Claro</translation>
    </message>
    <message>
        <source>Line {number} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>La línea {number} no tiene la forma: palabra = cómo se dice.</translation>
    </message>
    <message>
        <source>Line {number} of {path} is not of the form: word = how it is said.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>La línea {number} de {path} no tiene la forma: palabra = cómo se dice.</translation>
    </message>
    <message>
        <source>List</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Lista</translation>
    </message>
    <message>
        <source>Listen</source>
        <extracomment>app/gui/listen/pane.py, app/gui/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Escuchar</translation>
    </message>
    <message>
        <source>Listening</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/listen.py</extracomment>
        <translation>Escuchando</translation>
    </message>
    <message>
        <source>Load</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Cargar</translation>
    </message>
    <message>
        <source>Load or unload</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Cargar o descargar de memoria</translation>
    </message>
    <message>
        <source>Loading models</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Cargando modelos</translation>
    </message>
    <message>
        <source>Loading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py, app/window_engine.py, app/window_reply.py</extracomment>
        <translation>Cargando {model}.</translation>
    </message>
    <message>
        <source>Location</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Ubicación</translation>
    </message>
    <message>
        <source>Log</source>
        <extracomment>app/gui/logview.py, app/gui/server/pane.py, app/gui/settings/pane.py, app/gui/settings/tools.py</extracomment>
        <translation>Registro</translation>
    </message>
    <message>
        <source>Long texts, tools and code, for machines with 16 to 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Textos largos, herramientas y código, para equipos con 16 a 24 GB.</translation>
    </message>
    <message>
        <source>Looking for documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Buscando documentos</translation>
    </message>
    <message>
        <source>Looking for models on this machine.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Buscando modelos en este equipo.</translation>
    </message>
    <message>
        <source>Low</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Bajo</translation>
    </message>
    <message>
        <source>Low confidence. Click to play.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Confianza baja. Haz clic para reproducir.</translation>
    </message>
    <message>
        <source>Low confidence: {why}</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Confianza baja: {why}</translation>
    </message>
    <message>
        <source>Make an audiobook</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py</extracomment>
        <translation>Crear un audiolibro</translation>
    </message>
    <message>
        <source>Male voice</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>Voz masculina</translation>
    </message>
    <message>
        <source>Markdown</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>Match case</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Coincidir mayúsculas y minúsculas</translation>
    </message>
    <message>
        <source>Maximum length</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Longitud máxima</translation>
    </message>
    <message>
        <source>Medium</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Medio</translation>
    </message>
    <message>
        <source>Memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Memoria</translation>
    </message>
    <message>
        <source>Memory</source>
        <comment>facts</comment>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Memoria de datos</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Límite de memoria</translation>
    </message>
    <message>
        <source>Merge with the next segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Unir con el segmento siguiente</translation>
    </message>
    <message>
        <source>Message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Mensaje</translation>
    </message>
    <message>
        <source>Min P</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Min P</translation>
    </message>
    <message>
        <source>Model</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/model_box.py, app/gui/models/remote_form.py, app/gui/server/pane.py</extracomment>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>Model folders</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Carpetas de modelos</translation>
    </message>
    <message>
        <source>Model for this conversation</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Modelo para esta conversación</translation>
    </message>
    <message>
        <source>Model lists</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Listas de modelos</translation>
    </message>
    <message>
        <source>Model to use</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Modelo que se usará</translation>
    </message>
    <message>
        <source>Models</source>
        <extracomment>app/gui/models/pane.py, app/gui/pane.py</extracomment>
        <translation>Modelos</translation>
    </message>
    <message>
        <source>Models on this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Modelos en este equipo</translation>
    </message>
    <message>
        <source>Models run on {backend}, {device}, and may use {allowed} of {memory}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Los modelos se ejecutan en {backend}, {device}, y pueden usar {allowed} de {memory}.</translation>
    </message>
    <message>
        <source>Models, shared with other programs</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Modelos, compartidos con otros programas</translation>
    </message>
    <message>
        <source>Move to</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mover a</translation>
    </message>
    <message>
        <source>Multi-token prediction (MTP)</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>Predicción de varios tokens (MTP)</translation>
    </message>
    <message>
        <source>N-grams of the conversation</source>
        <extracomment>app/gui/viewmodels/speculation.py</extracomment>
        <translation>N-gramas de la conversación</translation>
    </message>
    <message>
        <source>NVIDIA GPU</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>GPU NVIDIA</translation>
    </message>
    <message>
        <source>Name</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/models/remote_form.py, app/gui/settings/tools.py</extracomment>
        <translation>Nombre</translation>
    </message>
    <message>
        <source>Name of the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Nombre de la voz</translation>
    </message>
    <message>
        <source>Name to save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Nombre para guardar como preajuste</translation>
    </message>
    <message>
        <source>Names and terms, separated by commas. Listen, Talk and dictation spell them like this.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Nombres y términos, separados por comas. Escuchar, Conversación por voz y el dictado los escriben así.</translation>
    </message>
    <message>
        <source>Needs about {needed} of {has}. Its experts can stay in the file: replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Necesita unos {needed} de {has}. Sus expertos pueden quedarse en el archivo: las respuestas son tan lentas como el disco.</translation>
    </message>
    <message>
        <source>Needs about {needed}; models may use {has}. Raise the memory limit in Settings.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Necesita unos {needed}; los modelos pueden usar {has}. Aumenta el límite de memoria en Ajustes.</translation>
    </message>
    <message>
        <source>Network</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Red</translation>
    </message>
    <message>
        <source>Never</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Nunca</translation>
    </message>
    <message>
        <source>Never allow</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>No permitir nunca</translation>
    </message>
    <message>
        <source>New conversation</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py, app/gui/chat/pane.py</extracomment>
        <translation>Nueva conversación</translation>
    </message>
    <message>
        <source>New conversation in this project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nueva conversación en este proyecto</translation>
    </message>
    <message>
        <source>New line</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nueva línea</translation>
    </message>
    <message>
        <source>New project</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/projects.py</extracomment>
        <translation>Nuevo proyecto</translation>
    </message>
    <message>
        <source>New project…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Nuevo proyecto…</translation>
    </message>
    <message>
        <source>New voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Nueva voz</translation>
    </message>
    <message>
        <source>Next branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Rama siguiente</translation>
    </message>
    <message>
        <source>Next conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Conversación siguiente</translation>
    </message>
    <message>
        <source>Next document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Documento siguiente</translation>
    </message>
    <message>
        <source>Next library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Biblioteca siguiente</translation>
    </message>
    <message>
        <source>Next match (Enter)</source>
        <extracomment>app/gui/chat/find_bar.py, app/gui/listen/replace_bar.py</extracomment>
        <translation>Coincidencia siguiente (Intro)</translation>
    </message>
    <message>
        <source>Next message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mensaje siguiente</translation>
    </message>
    <message>
        <source>Next page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Página siguiente</translation>
    </message>
    <message>
        <source>Next recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Grabación siguiente</translation>
    </message>
    <message>
        <source>Next region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Región siguiente</translation>
    </message>
    <message>
        <source>Next version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Versión siguiente</translation>
    </message>
    <message>
        <source>Next version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Versión siguiente de la vista previa</translation>
    </message>
    <message>
        <source>No active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>No hay solicitudes activas.</translation>
    </message>
    <message>
        <source>No errors so far.</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Sin errores hasta ahora.</translation>
    </message>
    <message>
        <source>No loudspeaker was found. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>No se encontró ningún altavoz. Conecta uno y reproduce de nuevo.</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>No se encontró ningún micrófono. Conecta uno e inténtalo de nuevo.</translation>
    </message>
    <message>
        <source>No model is loaded. Grus uses {whole}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Ningún modelo cargado. Grus usa {whole}.</translation>
    </message>
    <message>
        <source>No model that reads images is installed. Download one in Models, for example PaddlePaddle/PaddleOCR-VL.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>No hay instalado ningún modelo que lea imágenes. Descarga uno en Modelos, por ejemplo PaddlePaddle/PaddleOCR-VL.</translation>
    </message>
    <message>
        <source>No model that tells speakers apart is installed. Download one in Models, for example mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>No hay ningún modelo instalado que distinga a los hablantes. Descargue uno en Modelos, por ejemplo mlx-community/diar_streaming_sortformer_4spk-v2.1-fp32.</translation>
    </message>
    <message>
        <source>No model yet</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>Sin modelos</translation>
    </message>
    <message>
        <source>No model yet. Recommended lists some that fit.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Aún no hay modelos. En Recomendados hay algunos que caben.</translation>
    </message>
    <message>
        <source>No places were found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>No se encontraron posiciones en la salida del modelo.</translation>
    </message>
    <message>
        <source>No project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Ningún proyecto</translation>
    </message>
    <message>
        <source>No results for {words} on Hugging Face.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>No hay resultados para {words} en Hugging Face.</translation>
    </message>
    <message>
        <source>No results for {words}.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Sin resultados para {words}.</translation>
    </message>
    <message>
        <source>No results.</source>
        <extracomment>app/gui/chat/conversation_list.py, app/gui/palette.py, app/gui/viewmodels/chat/find.py</extracomment>
        <translation>Sin resultados.</translation>
    </message>
    <message>
        <source>No search and no downloads, and the server does not fetch images. Models on this machine keep working.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Sin búsquedas ni descargas, y el servidor no obtiene imágenes. Los modelos de este equipo siguen funcionando.</translation>
    </message>
    <message>
        <source>No shortcut</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Sin atajo</translation>
    </message>
    <message>
        <source>No speech recognition model is installed. Download one in Models, for example UsefulSensors/moonshine-base.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>No hay instalado ningún modelo de reconocimiento de voz. Descarga uno en Modelos, por ejemplo UsefulSensors/moonshine-base.</translation>
    </message>
    <message>
        <source>No table was found in the model&apos;s output.</source>
        <extracomment>engine/pipelines/reading/elements.py</extracomment>
        <translation>No se encontró ninguna tabla en la salida del modelo.</translation>
    </message>
    <message>
        <source>No table was found in {title}. Choose another format.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>No se encontró ninguna tabla en {title}. Elige otro formato.</translation>
    </message>
    <message>
        <source>No text was found in {name}.</source>
        <extracomment>app/window_engine.py</extracomment>
        <translation>No se encontró texto en {name}.</translation>
    </message>
    <message>
        <source>No text-to-speech model is installed. Download one in Models, for example Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>No hay instalado ningún modelo de texto a voz. Descarga uno en Modelos, por ejemplo Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice.</translation>
    </message>
    <message>
        <source>No tool server that is on has a prompt.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Ningún servidor de herramientas activo tiene un prompt.</translation>
    </message>
    <message>
        <source>No tool server that is on has a resource.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Ningún servidor de herramientas activo tiene un recurso.</translation>
    </message>
    <message>
        <source>No voice yet</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Sin voces</translation>
    </message>
    <message>
        <source>None. For example https://app.example</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Ninguno. Por ejemplo https://app.example</translation>
    </message>
    <message>
        <source>Not complete</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Incompleta</translation>
    </message>
    <message>
        <source>Not now</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>Ahora no</translation>
    </message>
    <message>
        <source>Not stated. Check with the publisher before you use it.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>No indicada. Consulta con el editor antes de usarlo.</translation>
    </message>
    <message>
        <source>Nothing</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Nada</translation>
    </message>
    <message>
        <source>Nothing was found.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>No se encontró nada.</translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>app/gui/sampling_fields.py, app/gui/server/pane.py, app/gui/viewmodels/read_watch.py, app/gui/viewmodels/speculation.py</extracomment>
        <translation>Desactivado</translation>
    </message>
    <message>
        <source>OmniVoice has no voices by name: describe one, or clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py</extracomment>
        <translation>OmniVoice no tiene voces con nombre: describa una o clone una de una grabación.</translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>app/gui/sampling_fields.py</extracomment>
        <translation>Activado</translation>
    </message>
    <message>
        <source>On disk</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>En disco</translation>
    </message>
    <message>
        <source>On other machines</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>En otros equipos</translation>
    </message>
    <message>
        <source>On this machine</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>En este equipo</translation>
    </message>
    <message>
        <source>Once a day at most. Only the version of this Grus is sent.</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Una vez al día como máximo. Solo se envía la versión de este Grus.</translation>
    </message>
    <message>
        <source>One chart</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Un gráfico</translation>
    </message>
    <message>
        <source>One file per chapter</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Un archivo por capítulo</translation>
    </message>
    <message>
        <source>One formula</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Una fórmula</translation>
    </message>
    <message>
        <source>One line per request, without its content.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Una línea por solicitud, sin su contenido.</translation>
    </message>
    <message>
        <source>One moment. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Un momento. Pulsa Esc para finalizar.</translation>
    </message>
    <message>
        <source>One seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Un sello</translation>
    </message>
    <message>
        <source>One table</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Una tabla</translation>
    </message>
    <message>
        <source>Only PDFs and images become a searchable PDF. Choose another format.</source>
        <extracomment>engine/pipelines/reading/writers.py</extracomment>
        <translation>Solo los PDF y las imágenes se convierten en un PDF con búsqueda. Elige otro formato.</translation>
    </message>
    <message>
        <source>Only if the server does not list it</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>Solo si el servidor no lo enumera</translation>
    </message>
    <message>
        <source>Only the first {rows} rows are read.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>Solo se leen las primeras {rows} filas.</translation>
    </message>
    <message>
        <source>Only {free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Solo quedan {free} libres.</translation>
    </message>
    <message>
        <source>Open</source>
        <extracomment>app/gui/pane.py</extracomment>
        <translation>Abrir</translation>
    </message>
    <message>
        <source>Open at login</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Abrir al iniciar sesión</translation>
    </message>
    <message>
        <source>Open in the browser</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Abrir en el navegador</translation>
    </message>
    <message>
        <source>Open link</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Abrir enlace</translation>
    </message>
    <message>
        <source>Open text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Abrir texto</translation>
    </message>
    <message>
        <source>Open the browser</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Abrir el navegador</translation>
    </message>
    <message>
        <source>Open the conversation: {title}</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Abrir la conversación: {title}</translation>
    </message>
    <message>
        <source>Opening</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Abriendo</translation>
    </message>
    <message>
        <source>Or paste the JSON of Claude Desktop, Cursor, LM Studio or VS Code</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>O pegue el JSON de Claude Desktop, Cursor, LM Studio o VS Code</translation>
    </message>
    <message>
        <source>Orpheus has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus no tiene la voz {name}. Tiene: {voices}.</translation>
    </message>
    <message>
        <source>Orpheus has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus tiene voces propias y no clona. Para clonar, elige un modelo Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>Orpheus speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus habla inglés, no {language}.</translation>
    </message>
    <message>
        <source>Orpheus takes no instructions; it supports tags in the text: {tags}.</source>
        <extracomment>engine/pipelines/speaking/orpheus.py</extracomment>
        <translation>Orpheus no admite instrucciones; admite etiquetas en el texto: {tags}.</translation>
    </message>
    <message>
        <source>Other data</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Otros datos</translation>
    </message>
    <message>
        <source>Other machines can reach the server on port {port}, with a key.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>Otros equipos pueden acceder al servidor en el puerto {port}, con una clave.</translation>
    </message>
    <message>
        <source>Other machines may only connect with a key. Create one first.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>Otros equipos solo pueden conectarse con una clave. Crea una primero.</translation>
    </message>
    <message>
        <source>Other machines too</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>También otros equipos</translation>
    </message>
    <message>
        <source>Other models</source>
        <extracomment>app/gui/chat/offer.py</extracomment>
        <translation>Otros modelos</translation>
    </message>
    <message>
        <source>Output</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Salida</translation>
    </message>
    <message>
        <source>Own words</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Palabras propias</translation>
    </message>
    <message>
        <source>Own words are at most {most}, of {longest} characters each.</source>
        <extracomment>engine/pipelines/listening/glossary.py</extracomment>
        <translation>Puede haber como máximo {most} palabras propias, de {longest} caracteres cada una.</translation>
    </message>
    <message>
        <source>PDF</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>PDF</translation>
    </message>
    <message>
        <source>Pace</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Ritmo</translation>
    </message>
    <message>
        <source>Packed weights</source>
        <extracomment>app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Pesos empaquetados</translation>
    </message>
    <message>
        <source>Page number</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Número de página</translation>
    </message>
    <message>
        <source>Page {number} of the PDF cannot be drawn.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La página {number} del PDF no se puede dibujar.</translation>
    </message>
    <message>
        <source>Page {number} of the PDF is damaged.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La página {number} del PDF está dañada.</translation>
    </message>
    <message>
        <source>Page {n} of {total}</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Página {n} de {total}</translation>
    </message>
    <message>
        <source>Pages</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Páginas</translation>
    </message>
    <message>
        <source>Pages are named like 1-3,5 or 7-, not {text}.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Indica las páginas como 1-3,5 o 7-, no {text}.</translation>
    </message>
    <message>
        <source>Pages, such as 1-3,5 or 7-</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Páginas, por ejemplo 1-3,5 o 7-</translation>
    </message>
    <message>
        <source>Panes</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Paneles</translation>
    </message>
    <message>
        <source>Passages</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Pasajes</translation>
    </message>
    <message>
        <source>Password</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Contraseña</translation>
    </message>
    <message>
        <source>Password-protected</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Protegido con contraseña</translation>
    </message>
    <message>
        <source>Paste image</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Pegar imagen</translation>
    </message>
    <message>
        <source>Paste it, and press Enter</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Pégalo y pulsa Intro</translation>
    </message>
    <message>
        <source>Paste your Hugging Face token, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Pega tu token de Hugging Face y pulsa Intro</translation>
    </message>
    <message>
        <source>Pasted picture</source>
        <extracomment>app/gui/chat/composer.py, app/gui/read/pane.py</extracomment>
        <translation>Imagen pegada</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Texto pegado</translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Pause or resume</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Pausar o reanudar</translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>En pausa</translation>
    </message>
    <message>
        <source>Paused after {done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>En pausa tras {done} de {total} archivos</translation>
    </message>
    <message>
        <source>Paused at {how_far}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>En pausa: {how_far}</translation>
    </message>
    <message>
        <source>Permission of {tool}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Permiso de {tool}</translation>
    </message>
    <message>
        <source>Picture</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Imagen</translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Fijar</translation>
    </message>
    <message>
        <source>Pin or unpin the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Fijar o desfijar la conversación</translation>
    </message>
    <message>
        <source>Pinned</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Fijadas</translation>
    </message>
    <message>
        <source>Pitch</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Tono</translation>
    </message>
    <message>
        <source>Play</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>Reproducir</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <extracomment>app/gui/listen/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Reproducir o pausar</translation>
    </message>
    <message>
        <source>Play segment</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Reproducir el segmento</translation>
    </message>
    <message>
        <source>Play the voice sample</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Reproducir la muestra de voz</translation>
    </message>
    <message>
        <source>Pocket-TTS takes no instructions. Its voices are recordings.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Pocket-TTS no admite instrucciones. Sus voces son grabaciones.</translation>
    </message>
    <message>
        <source>Port</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Puerto</translation>
    </message>
    <message>
        <source>Precise</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Preciso</translation>
    </message>
    <message>
        <source>Preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Preajuste</translation>
    </message>
    <message>
        <source>Press Enter, then the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Pulsa Intro y luego las teclas</translation>
    </message>
    <message>
        <source>Press the keys</source>
        <extracomment>app/gui/settings/hotkey_edit.py</extracomment>
        <translation>Pulsa las teclas</translation>
    </message>
    <message>
        <source>Preview</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Vista previa</translation>
    </message>
    <message>
        <source>Preview the last code</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Vista previa del último código</translation>
    </message>
    <message>
        <source>Previous branch</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Rama anterior</translation>
    </message>
    <message>
        <source>Previous conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Conversación anterior</translation>
    </message>
    <message>
        <source>Previous document</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Documento anterior</translation>
    </message>
    <message>
        <source>Previous library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Biblioteca anterior</translation>
    </message>
    <message>
        <source>Previous match (Shift+Enter)</source>
        <extracomment>app/gui/chat/find_bar.py</extracomment>
        <translation>Coincidencia anterior (Mayús+Intro)</translation>
    </message>
    <message>
        <source>Previous message</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mensaje anterior</translation>
    </message>
    <message>
        <source>Previous page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Página anterior</translation>
    </message>
    <message>
        <source>Previous recording</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Grabación anterior</translation>
    </message>
    <message>
        <source>Previous region</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Región anterior</translation>
    </message>
    <message>
        <source>Previous version</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Versión anterior</translation>
    </message>
    <message>
        <source>Previous version of the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Versión anterior de la vista previa</translation>
    </message>
    <message>
        <source>Privacy</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Privacidad</translation>
    </message>
    <message>
        <source>Programs must send one of these keys. Without keys, every program on this machine can connect.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Los programas deben enviar una de estas claves. Sin claves, cualquier programa de este equipo puede conectarse.</translation>
    </message>
    <message>
        <source>Progress of the download</source>
        <extracomment>app/gui/chat/offer.py, app/gui/models/pane.py</extracomment>
        <translation>Progreso de la descarga</translation>
    </message>
    <message>
        <source>Project settings</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Ajustes del proyecto</translation>
    </message>
    <message>
        <source>Project settings…</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Ajustes del proyecto…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Pronunciations</source>
        <extracomment>app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>Pronunciaciones</translation>
    </message>
    <message>
        <source>Python in a sandbox needs Linux on x86-64 or ARM64.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python en un entorno aislado necesita Linux en x86-64 o ARM64.</translation>
    </message>
    <message>
        <source>Python in a sandbox needs a Python on this machine. Install the package python3 of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python en un entorno aislado necesita un Python en este equipo. Instale el paquete python3 de su sistema.</translation>
    </message>
    <message>
        <source>Python in a sandbox needs bubblewrap. Install the package bubblewrap of your system.</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>Python en un entorno aislado necesita bubblewrap. Instale el paquete bubblewrap de su sistema.</translation>
    </message>
    <message>
        <source>Python sandbox</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Python aislado</translation>
    </message>
    <message>
        <source>Queued. It is sent when the reply has ended.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>En cola. Se envía cuando termine la respuesta.</translation>
    </message>
    <message>
        <source>Quit Grus</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Salir de Grus</translation>
    </message>
    <message>
        <source>Read</source>
        <extracomment>app/gui/pane.py, app/gui/read/pane.py</extracomment>
        <translation>Leer</translation>
    </message>
    <message>
        <source>Read again</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Leer de nuevo</translation>
    </message>
    <message>
        <source>Read documents</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Leer documentos</translation>
    </message>
    <message>
        <source>Read tables, formulas and scans in many languages: a model for documents.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Leer tablas, fórmulas y escaneos en muchos idiomas: un modelo para documentos.</translation>
    </message>
    <message>
        <source>Read the text</source>
        <extracomment>app/gui/chat/picture_bar.py</extracomment>
        <translation>Leer el texto</translation>
    </message>
    <message>
        <source>Reading</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>Leyendo</translation>
    </message>
    <message>
        <source>Reading failed inside: {kind}: {error}</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>Error interno al leer: {kind}: {error}</translation>
    </message>
    <message>
        <source>Reading the conversation: {share}.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Leyendo la conversación: {share}.</translation>
    </message>
    <message>
        <source>Reading the file.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Leyendo el archivo.</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>Leyendo {name}</translation>
    </message>
    <message>
        <source>Reading {n} tokens.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Leyendo {n} tokens.</translation>
    </message>
    <message>
        <source>Reads files in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Lee archivos en las carpetas que elija.</translation>
    </message>
    <message>
        <source>Reads pages of the web. Their addresses leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Lee páginas web. Sus direcciones salen de este equipo.</translation>
    </message>
    <message>
        <source>Reads pages: text, tables, formulas and charts in 109 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lee páginas: texto, tablas, fórmulas y gráficos en 109 idiomas.</translation>
    </message>
    <message>
        <source>Reads text aloud in ten languages, with nine voices.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lee texto en voz alta en diez idiomas, con nueve voces.</translation>
    </message>
    <message>
        <source>Reads text aloud on any machine, in English and five other languages. It needs the program espeak-ng.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lee texto en voz alta en cualquier equipo, en inglés y en otros cinco idiomas. Necesita el programa espeak-ng.</translation>
    </message>
    <message>
        <source>Reasoning</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/chat/panel.py, app/gui/chat/talk_bar.py, app/gui/sampling_fields.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Razonamiento</translation>
    </message>
    <message>
        <source>Reasoning and tools at the speed of a small model: 3.6 of 21 billion parameters are active per token. For 24 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Razonamiento y herramientas a la velocidad de un modelo pequeño: 3600 de 21 000 millones de parámetros activos por token. Para 24 GB.</translation>
    </message>
    <message>
        <source>Reasoning limit</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Límite de razonamiento</translation>
    </message>
    <message>
        <source>Reasoning, code and tools, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Razonamiento, código y herramientas, para equipos con 16 GB.</translation>
    </message>
    <message numerus="yes">
        <source>Reasoning, {n} words</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>Razonamiento, {n} palabra</numerusform>
            <numerusform>Razonamiento, {n} palabras</numerusform>
        </translation>
    </message>
    <message>
        <source>Recognizes more detail, reads small print and longer documents.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Reconoce más detalles, lee letra pequeña y documentos más largos.</translation>
    </message>
    <message>
        <source>Recommended</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Recomendados</translation>
    </message>
    <message>
        <source>Record</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Grabar</translation>
    </message>
    <message>
        <source>Record from the microphone</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Grabar con el micrófono</translation>
    </message>
    <message>
        <source>Recording {time}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>Grabación {time}</translation>
    </message>
    <message>
        <source>Recording: {time}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Grabando: {time}</translation>
    </message>
    <message>
        <source>Recordings</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Grabaciones</translation>
    </message>
    <message>
        <source>Redo</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Rehacer</translation>
    </message>
    <message>
        <source>Reduce motion</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Reducir el movimiento</translation>
    </message>
    <message>
        <source>Refresh</source>
        <extracomment>app/gui/models/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Actualizar</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/message_buttons.py</extracomment>
        <translation>Regenerar</translation>
    </message>
    <message>
        <source>Remember facts for all conversations</source>
        <extracomment>app/gui/settings/memories.py</extracomment>
        <translation>Recordar datos para todas las conversaciones</translation>
    </message>
    <message>
        <source>Remote</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Remoto</translation>
    </message>
    <message>
        <source>Remove</source>
        <extracomment>app/gui/settings/cuda_pack.py</extracomment>
        <translation>Quitar</translation>
    </message>
    <message>
        <source>Remove from the list</source>
        <extracomment>app/gui/listen/pane.py, app/gui/read/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Quitar de la lista</translation>
    </message>
    <message>
        <source>Remove the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Quitar la biblioteca</translation>
    </message>
    <message>
        <source>Remove the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Quitar el proyecto</translation>
    </message>
    <message>
        <source>Remove the token</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Quitar el token</translation>
    </message>
    <message>
        <source>Remove {folder}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Quitar {folder}</translation>
    </message>
    <message>
        <source>Remove {folder} from the list</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Quitar {folder} de la lista</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <extracomment>app/gui/chat/composer.py, app/gui/settings/tools.py</extracomment>
        <translation>Quitar {name}</translation>
    </message>
    <message>
        <source>Removing.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Quitando.</translation>
    </message>
    <message>
        <source>Rename</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Renombrar</translation>
    </message>
    <message>
        <source>Rename in the whole recording</source>
        <extracomment>app/gui/listen/pane.py, app/gui/listen/speakers.py</extracomment>
        <translation>Cambiar el nombre en toda la grabación</translation>
    </message>
    <message>
        <source>Rename the conversation</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Renombrar la conversación</translation>
    </message>
    <message>
        <source>Rename the project</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Cambiar el nombre del proyecto</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Penalización por repetición</translation>
    </message>
    <message>
        <source>Replace all</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Reemplazar todo</translation>
    </message>
    <message>
        <source>Replace with</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>Reemplazar con</translation>
    </message>
    <message>
        <source>Replicas</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Réplicas</translation>
    </message>
    <message>
        <source>Replies are generated on this machine.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Las respuestas se generan en este equipo.</translation>
    </message>
    <message>
        <source>Reply</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Respuesta</translation>
    </message>
    <message>
        <source>Reply of {model}</source>
        <extracomment>app/gui/chat/compare_view.py</extracomment>
        <translation>Respuesta de {model}</translation>
    </message>
    <message>
        <source>Repository</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Repositorio</translation>
    </message>
    <message>
        <source>Requires</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Requiere</translation>
    </message>
    <message>
        <source>Reranking</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Reordenación</translation>
    </message>
    <message>
        <source>Resources</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Recursos</translation>
    </message>
    <message>
        <source>Restart Grus</source>
        <extracomment>app/gui/settings/cuda_pack.py, app/gui/settings/speculation.py</extracomment>
        <translation>Reiniciar Grus</translation>
    </message>
    <message>
        <source>Result</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Resultado</translation>
    </message>
    <message>
        <source>Results</source>
        <extracomment>app/gui/palette.py, app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Resultados</translation>
    </message>
    <message>
        <source>Resume</source>
        <extracomment>app/gui/chat/offer.py, app/gui/libraries/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Reanudar</translation>
    </message>
    <message>
        <source>Resume the audiobook</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Reanudar el audiolibro</translation>
    </message>
    <message>
        <source>Retry</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>Retry now. Grus also retries automatically.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Reintentar ahora. Grus también reintenta automáticamente.</translation>
    </message>
    <message>
        <source>Reuse the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Reutilizar el texto</translation>
    </message>
    <message>
        <source>Rotate the page</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Girar la página</translation>
    </message>
    <message>
        <source>Run in the sandbox</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Ejecutar en el entorno aislado</translation>
    </message>
    <message>
        <source>Run or open the preview</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Ejecutar o abrir la vista previa</translation>
    </message>
    <message>
        <source>Running on {address}</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>En ejecución en {address}</translation>
    </message>
    <message>
        <source>Running the code.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Ejecutando el código.</translation>
    </message>
    <message>
        <source>Runs Python without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Ejecuta Python sin red y sin sus archivos, con límites de tiempo y memoria.</translation>
    </message>
    <message>
        <source>Runs on</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Se ejecuta en</translation>
    </message>
    <message>
        <source>Sample only from the most likely tokens that together have this probability.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Elige solo entre los tokens más probables que juntos suman esta probabilidad.</translation>
    </message>
    <message>
        <source>Sample only from this many of the most likely tokens. 0: all.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Elige solo entre este número de tokens más probables. 0: todos.</translation>
    </message>
    <message>
        <source>Sampling</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Muestreo</translation>
    </message>
    <message>
        <source>Save</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Guardar</translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Guardar como preajuste</translation>
    </message>
    <message>
        <source>Save audio</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Guardar audio</translation>
    </message>
    <message>
        <source>Save now</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Guardar ahora</translation>
    </message>
    <message>
        <source>Save the voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Guardar la voz</translation>
    </message>
    <message>
        <source>Save to</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Guardar en</translation>
    </message>
    <message>
        <source>Saved as {file}.</source>
        <extracomment>app/gui/pane.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>Guardado como {file}.</translation>
    </message>
    <message>
        <source>Say something. Press Esc to end.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Di algo. Pulsa Esc para finalizar.</translation>
    </message>
    <message>
        <source>Say what is spoken in the recording, or clone the voice&apos;s colour alone.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Indica qué se dice en la grabación o clona solo el timbre de la voz.</translation>
    </message>
    <message>
        <source>Scaled down from {width} x {height} to {less} x {lower} pixels.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Reducida de {width} × {height} a {less} × {lower} píxeles.</translation>
    </message>
    <message>
        <source>Screen capture</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Captura de pantalla</translation>
    </message>
    <message>
        <source>Seal</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Sello</translation>
    </message>
    <message>
        <source>Search</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Buscar</translation>
    </message>
    <message>
        <source>Search Hugging Face</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Buscar en Hugging Face</translation>
    </message>
    <message>
        <source>Search Hugging Face, and press Enter</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Busca en Hugging Face y pulsa Intro</translation>
    </message>
    <message>
        <source>Search in all conversations</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/conversation_list.py</extracomment>
        <translation>Buscar en todas las conversaciones</translation>
    </message>
    <message>
        <source>Search in the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Buscar en la biblioteca</translation>
    </message>
    <message>
        <source>Searches the libraries in the folders that you choose.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Busca en las bibliotecas de las carpetas que elija.</translation>
    </message>
    <message>
        <source>Searches the web through an address of yours: SearXNG, or Brave with a key. Queries leave this machine.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Busca en la web mediante una dirección suya: SearXNG, o Brave con una clave. Las consultas salen de este equipo.</translation>
    </message>
    <message>
        <source>Searching Hugging Face for {words}.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Buscando {words} en Hugging Face.</translation>
    </message>
    <message>
        <source>Searching your documents.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Buscando en sus documentos.</translation>
    </message>
    <message>
        <source>See what is installed, or download a recommended model that fits.</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>Mira qué hay instalado o descarga un modelo recomendado que quepa.</translation>
    </message>
    <message>
        <source>Seed</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Semilla</translation>
    </message>
    <message>
        <source>Send</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Enviar</translation>
    </message>
    <message>
        <source>Send (Enter)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Enviar (Intro)</translation>
    </message>
    <message>
        <source>Separate origins with commas. * allows all.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Separa los orígenes con comas. * los permite todos.</translation>
    </message>
    <message>
        <source>Server</source>
        <extracomment>app/gui/pane.py, app/gui/server/pane.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Servidor</translation>
    </message>
    <message>
        <source>Settings</source>
        <extracomment>app/gui/pane.py, app/gui/settings/pane.py, app/gui/viewmodels/settings.py</extracomment>
        <translation>Ajustes</translation>
    </message>
    <message>
        <source>Settings of this conversation</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Ajustes de esta conversación</translation>
    </message>
    <message>
        <source>Settings of {name}</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Ajustes de {name}</translation>
    </message>
    <message>
        <source>Settings say to work offline</source>
        <extracomment>app/main.py</extracomment>
        <translation>Los ajustes indican trabajar sin conexión</translation>
    </message>
    <message>
        <source>Several draft tokens are verified in one step. Replies come sooner and stay the same.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Varios tokens borrador se verifican en un paso. Las respuestas llegan antes y son las mismas.</translation>
    </message>
    <message>
        <source>Shortened to {n} characters.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>Acortado a {n} caracteres.</translation>
    </message>
    <message>
        <source>Show</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Mostrar</translation>
    </message>
    <message>
        <source>Show Grus</source>
        <extracomment>app/gui/desktop.py, app/gui/hotkey.py</extracomment>
        <translation>Mostrar Grus</translation>
    </message>
    <message numerus="yes">
        <source>Show all, {n} lines</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>
            <numerusform>Mostrar todo, {n} línea</numerusform>
            <numerusform>Mostrar todo, {n} líneas</numerusform>
        </translation>
    </message>
    <message>
        <source>Show data folder</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Mostrar la carpeta de datos</translation>
    </message>
    <message>
        <source>Show folder</source>
        <extracomment>app/gui/logview.py</extracomment>
        <translation>Mostrar la carpeta</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/speak/pane.py</extracomment>
        <translation>Mostrar en la carpeta</translation>
    </message>
    <message>
        <source>Show less</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Mostrar menos</translation>
    </message>
    <message>
        <source>Show me</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Mostrar</translation>
    </message>
    <message>
        <source>Show on Hugging Face</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Ver en Hugging Face</translation>
    </message>
    <message>
        <source>Show or hide reasoning</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mostrar u ocultar el razonamiento</translation>
    </message>
    <message>
        <source>Show reasoning</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Mostrar el razonamiento</translation>
    </message>
    <message>
        <source>Show the call</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Mostrar la llamada</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Mostrar la carpeta</translation>
    </message>
    <message>
        <source>Show the log</source>
        <extracomment>app/gui/settings/pane.py, app/gui/window.py</extracomment>
        <translation>Mostrar el registro</translation>
    </message>
    <message>
        <source>Show the log of {name}</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Mostrar el registro de {name}</translation>
    </message>
    <message>
        <source>Show tokens and time under replies</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Mostrar tokens y tiempo bajo las respuestas</translation>
    </message>
    <message>
        <source>Show tools</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Mostrar herramientas</translation>
    </message>
    <message>
        <source>Show under every reply</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Mostrar bajo cada respuesta</translation>
    </message>
    <message>
        <source>Show {what}</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Mostrar: {what}</translation>
    </message>
    <message>
        <source>Side note</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Nota al margen</translation>
    </message>
    <message>
        <source>Sign in</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Iniciar sesión</translation>
    </message>
    <message>
        <source>Sign in at {host} in your browser. Grus waits for the answer.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Inicie sesión en {host} en su navegador. Grus espera la respuesta.</translation>
    </message>
    <message>
        <source>Sign out</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Cerrar sesión</translation>
    </message>
    <message>
        <source>Simple conversations in many languages with little memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Conversaciones sencillas en muchos idiomas con poca memoria.</translation>
    </message>
    <message>
        <source>Simple conversations, tools and code, for machines with 16 GB.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Conversaciones sencillas, herramientas y código, para equipos con 16 GB.</translation>
    </message>
    <message>
        <source>Small and fast, in many languages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Pequeño y rápido, en muchos idiomas. Razonamiento opcional.</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Texto más pequeño</translation>
    </message>
    <message>
        <source>Snippet</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Fragmento de código</translation>
    </message>
    <message>
        <source>Something is being spoken. Wait for it, or stop it.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Se está leyendo algo. Espere, o deténgalo.</translation>
    </message>
    <message>
        <source>Something went wrong inside Grus: {error}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Se ha producido un error en Grus: {error}.</translation>
    </message>
    <message>
        <source>Sorts the passages of a search by how well they answer the question.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Ordena los pasajes de una búsqueda según lo bien que responden a la pregunta.</translation>
    </message>
    <message>
        <source>Spark-TTS has no voice {name}. It has: female, male.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS no tiene la voz {name}. Tiene: female, male.</translation>
    </message>
    <message>
        <source>Spark-TTS speaks Chinese and English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS habla chino e inglés, no {language}.</translation>
    </message>
    <message>
        <source>Spark-TTS takes no instructions for a cloned voice: pitch and speed are the recording&apos;s.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Spark-TTS no admite instrucciones para una voz clonada: el tono y la velocidad son los de la grabación.</translation>
    </message>
    <message>
        <source>Speak</source>
        <extracomment>app/gui/pane.py, app/gui/speak/pane.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Hablar</translation>
    </message>
    <message>
        <source>Speak the text</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Leer el texto en voz alta</translation>
    </message>
    <message>
        <source>Speak to interrupt the voice.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Habla para interrumpir la voz.</translation>
    </message>
    <message>
        <source>Speaker {number}</source>
        <extracomment>app/gui/viewmodels/listen.py</extracomment>
        <translation>Hablante {number}</translation>
    </message>
    <message>
        <source>Speakers</source>
        <extracomment>app/gui/listen/speakers.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Hablantes</translation>
    </message>
    <message>
        <source>Speakers whom you name in Listen are named in the next recording, where a model that recognizes voices is installed. What is kept of a voice are numbers, on this machine only.</source>
        <extracomment>app/gui/settings/known_voices.py</extracomment>
        <translation>Las personas que nombra en Escuchar se nombran en la siguiente grabación si hay instalado un modelo que reconoce voces. De una voz solo se guardan números, y solo en este equipo.</translation>
    </message>
    <message>
        <source>Speaking</source>
        <extracomment>app/gui/chat/talk_bar.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Hablando</translation>
    </message>
    <message>
        <source>Speaking style: cheerful, slow, slightly hoarse</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Estilo: alegre, lento, un poco ronco</translation>
    </message>
    <message>
        <source>Speaks 600 languages, in a voice that you describe or in that of a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Habla 600 idiomas, con una voz que usted describe o con la de una grabación.</translation>
    </message>
    <message>
        <source>Speaks English, in the voice of a recording of a few seconds, and as expressively as you choose.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Habla inglés, con la voz de una grabación de unos segundos y tan expresivamente como elija.</translation>
    </message>
    <message>
        <source>Speculative decoding</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Decodificación especulativa</translation>
    </message>
    <message>
        <source>Speech</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Voz</translation>
    </message>
    <message>
        <source>Speed</source>
        <extracomment>app/gui/sound/player.py, app/gui/viewmodels/models/card.py</extracomment>
        <translation>Velocidad</translation>
    </message>
    <message>
        <source>Split here</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Dividir aquí</translation>
    </message>
    <message>
        <source>Start or stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Iniciar o detener el servidor</translation>
    </message>
    <message>
        <source>Start server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Iniciar servidor</translation>
    </message>
    <message>
        <source>Starting</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Iniciando</translation>
    </message>
    <message>
        <source>Starting the tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Iniciando las herramientas.</translation>
    </message>
    <message>
        <source>Starting {name}.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Iniciando {name}.</translation>
    </message>
    <message>
        <source>Status</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Stop</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/listen/pane.py, app/gui/speak/pane.py, app/gui/window.py</extracomment>
        <translation>Detener</translation>
    </message>
    <message>
        <source>Stop (Esc)</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Detener (Esc)</translation>
    </message>
    <message>
        <source>Stop dictating</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Detener el dictado</translation>
    </message>
    <message>
        <source>Stop recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Detener la grabación</translation>
    </message>
    <message>
        <source>Stop server</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Detener servidor</translation>
    </message>
    <message>
        <source>Stop speaking</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Dejar de hablar</translation>
    </message>
    <message>
        <source>Stop the server to change these.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Detén el servidor para cambiar estos ajustes.</translation>
    </message>
    <message>
        <source>Stop transcribing</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Detener la transcripción</translation>
    </message>
    <message>
        <source>Stopped</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py, app/gui/viewmodels/chat/preview.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>Detenido</translation>
    </message>
    <message>
        <source>Stopped after {done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Detenido tras {done} de {total} páginas</translation>
    </message>
    <message>
        <source>Subtitles (SRT)</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>Subtítulos (SRT)</translation>
    </message>
    <message>
        <source>Switch between light and dark</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Alternar entre claro y oscuro</translation>
    </message>
    <message>
        <source>System</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Sistema</translation>
    </message>
    <message>
        <source>System prompt</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>Prompt del sistema</translation>
    </message>
    <message>
        <source>System prompt and sampling</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Prompt del sistema y muestreo</translation>
    </message>
    <message>
        <source>Table</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/read/document.py, app/gui/viewmodels/read.py</extracomment>
        <translation>Tabla</translation>
    </message>
    <message>
        <source>Tags in the text control the voice: {tags}.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Las etiquetas en el texto controlan la voz: {tags}.</translation>
    </message>
    <message>
        <source>Takes effect after a restart of Grus.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Surte efecto al reiniciar Grus.</translation>
    </message>
    <message>
        <source>Talk</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Conversación por voz</translation>
    </message>
    <message>
        <source>Talk needs a speech recognition model and a text-to-speech model. Download {names} here, then try again.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>La conversación por voz necesita un modelo de reconocimiento de voz y uno de texto a voz. Descarga {names} aquí e inténtalo de nuevo.</translation>
    </message>
    <message>
        <source>Tell speakers apart</source>
        <extracomment>app/gui/listen/speakers.py</extracomment>
        <translation>Distinguir a los hablantes</translation>
    </message>
    <message>
        <source>Tells who speaks when in a recording, beside a model that transcribes: up to four speakers.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Indica quién habla y cuándo en una grabación, junto a un modelo que transcribe: hasta cuatro hablantes.</translation>
    </message>
    <message>
        <source>Temperature</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>Temperatura</translation>
    </message>
    <message>
        <source>Tensor parallelism</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Paralelismo de tensores</translation>
    </message>
    <message>
        <source>Text</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Texto</translation>
    </message>
    <message>
        <source>Text of the segment</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>Texto del segmento</translation>
    </message>
    <message>
        <source>Text only</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Solo texto</translation>
    </message>
    <message>
        <source>Text size</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Tamaño del texto</translation>
    </message>
    <message>
        <source>Text to speak</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Texto que se leerá en voz alta</translation>
    </message>
    <message>
        <source>Text with positions</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Texto con posiciones</translation>
    </message>
    <message>
        <source>Texts</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Textos</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be downloaded: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>No se puede descargar el paquete CUDA: {reason}.</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be removed: {reason}. Close every Grus that uses it first.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>No se puede quitar el paquete CUDA: {reason}. Cierre antes todos los Grus que lo usan.</translation>
    </message>
    <message>
        <source>The CUDA pack cannot be unpacked: {reason}.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>No se puede descomprimir el paquete CUDA: {reason}.</translation>
    </message>
    <message>
        <source>The CUDA pack needs {needed}, but {folder} has only {free} left. {variable} names another place.</source>
        <extracomment>app/cuda_pack.py</extracomment>
        <translation>El paquete CUDA necesita {needed}, pero en {folder} solo quedan {free}. {variable} indica otro lugar.</translation>
    </message>
    <message>
        <source>The Hugging Face cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>La caché de Hugging Face</translation>
    </message>
    <message>
        <source>The Hugging Face cache, shared with other programs</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>La caché de Hugging Face, compartida con otros programas</translation>
    </message>
    <message>
        <source>The PDF has no pages.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>El PDF no tiene páginas.</translation>
    </message>
    <message>
        <source>The PDF is damaged or incomplete.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>El PDF está dañado o incompleto.</translation>
    </message>
    <message>
        <source>The PDF is protected. Give its password.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>El PDF está protegido. Introduce su contraseña.</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} reads handwriting, formulas and other scripts, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader no está seguro de esta página. {model} lee escritura a mano, fórmulas y otros alfabetos, unos {seconds} s por página llena en este equipo.</translation>
    </message>
    <message>
        <source>The Reader is not sure of this page. {model} with {layout} as its layout reads other scripts and photographs, line by line.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Reader no está seguro de esta página. {model} con {layout} como diseño lee otros alfabetos y fotografías, línea por línea.</translation>
    </message>
    <message>
        <source>The address begins with http: others on the way can read what is sent, and the key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>La dirección empieza por http: otros en el camino pueden leer lo que se envía, y la clave.</translation>
    </message>
    <message>
        <source>The address of a search is like https://searx.example.org or http://127.0.0.1:8080.</source>
        <extracomment>app/runtime/tools/web.py</extracomment>
        <translation>La dirección de una búsqueda es como https://searx.example.org o http://127.0.0.1:8080.</translation>
    </message>
    <message>
        <source>The best reasoning and code of its size, for 32 GB of fast memory.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>El mejor razonamiento y código de su tamaño, para 32 GB de memoria rápida.</translation>
    </message>
    <message>
        <source>The certificate of {name} at {host} is not valid.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>El certificado de {name} en {host} no es válido.</translation>
    </message>
    <message>
        <source>The chat model in memory corrects punctuation, capitals, filler words and slips. Without one, the text is typed as it was spoken. The last texts as they were spoken are kept here until Grus is closed.</source>
        <extracomment>app/gui/settings/dictation_cleanup.py</extracomment>
        <translation>El modelo de chat cargado corrige la puntuación, las mayúsculas, las muletillas y los lapsus. Sin él, el texto se escribe tal como se dijo. Los últimos textos tal como se dijeron se conservan aquí hasta que se cierra Grus.</translation>
    </message>
    <message>
        <source>The chat template of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>La plantilla de chat de este modelo no se puede usar.</translation>
    </message>
    <message>
        <source>The clipboard contains no image and no file.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>El portapapeles no contiene ninguna imagen ni archivo.</translation>
    </message>
    <message>
        <source>The configuration of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>La configuración de este modelo no se puede usar.</translation>
    </message>
    <message>
        <source>The date, the day of the week and the time.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>La fecha, el día de la semana y la hora.</translation>
    </message>
    <message>
        <source>The desktop did not give the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>El escritorio no concedió el atajo. Vacíe el campo y pulse las teclas otra vez.</translation>
    </message>
    <message>
        <source>The desktop ended the shortcut. Clear the field and press the keys again.</source>
        <extracomment>app/gui/keyboard/portal_key.py</extracomment>
        <translation>El escritorio retiró el atajo. Vacíe el campo y pulse las teclas otra vez.</translation>
    </message>
    <message>
        <source>The disk has too little room for what is in this archive.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>El disco no tiene espacio suficiente para el contenido de este archivo.</translation>
    </message>
    <message>
        <source>The disk is full, so {repo} could not be downloaded to its end{where}. What arrived is kept: make room, and download it again to continue.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>El disco está lleno y {repo} no se pudo descargar por completo{where}. Lo descargado se conserva: libera espacio y descárgalo de nuevo para continuar.</translation>
    </message>
    <message>
        <source>The download of {name} was interrupted. Start it again: it continues from there.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>La descarga de {name} se interrumpió. Iníciela de nuevo: continúa donde quedó.</translation>
    </message>
    <message>
        <source>The engine failed: {kind}: {error}</source>
        <extracomment>engine/engine.py, engine/tasks.py</extracomment>
        <translation>El motor falló: {kind}: {error}</translation>
    </message>
    <message>
        <source>The engine has been stopped.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>El motor se ha detenido.</translation>
    </message>
    <message>
        <source>The engine is starting.</source>
        <extracomment>app/gui/bars.py</extracomment>
        <translation>El motor se está iniciando.</translation>
    </message>
    <message>
        <source>The engine was stopped before the request ended.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>El motor se detuvo antes de que terminara la solicitud.</translation>
    </message>
    <message>
        <source>The fact was deleted.</source>
        <extracomment>app/gui/viewmodels/memories.py</extracomment>
        <translation>El dato se ha eliminado.</translation>
    </message>
    <message>
        <source>The fastest: short answers, summaries and first drafts on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>El más rápido: respuestas cortas, resúmenes y borradores en cualquier equipo.</translation>
    </message>
    <message>
        <source>The file holds XML that expands itself or never ends; it is not opened.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>El archivo contiene XML que se expande o no termina; no se abre.</translation>
    </message>
    <message>
        <source>The file is damaged or incomplete ({kind}).</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>El archivo está dañado o incompleto ({kind}).</translation>
    </message>
    <message>
        <source>The file is empty.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>El archivo está vacío.</translation>
    </message>
    <message>
        <source>The file is larger than can be read here.</source>
        <extracomment>engine/pipelines/reading/formats/blocks.py</extracomment>
        <translation>El archivo es demasiado grande para leerlo aquí.</translation>
    </message>
    <message>
        <source>The file is protected with a password. Save a copy without one.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>El archivo está protegido con contraseña. Guarda una copia sin ella.</translation>
    </message>
    <message>
        <source>The file unpacks to more than can be read here: it is damaged, or made to do harm.</source>
        <extracomment>engine/pipelines/reading/formats/packages.py</extracomment>
        <translation>El archivo descomprimido es demasiado grande: está dañado o hecho para causar daño.</translation>
    </message>
    <message>
        <source>The file with your conversations was damaged. It was saved as {file}, and Grus started with a new one.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>El archivo con tus conversaciones estaba dañado. Se guardó como {file} y Grus empezó con uno nuevo.</translation>
    </message>
    <message>
        <source>The format {kind} is not supported. Choose a format from the list.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>El formato {kind} no es compatible. Elige un formato de la lista.</translation>
    </message>
    <message>
        <source>The hub does not say which version of {name} it has. Try again later.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>Hugging Face no indica qué versión de {name} tiene. Inténtalo más tarde.</translation>
    </message>
    <message>
        <source>The hub redirects a file in a circle. Try again later.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>Hugging Face redirige un archivo en bucle. Inténtalo más tarde.</translation>
    </message>
    <message>
        <source>The image has no pixels.</source>
        <extracomment>engine/media/documents.py, engine/media/image.py</extracomment>
        <translation>La imagen no tiene píxeles.</translation>
    </message>
    <message>
        <source>The image has pixels of floating point, which have no fixed white. Save it with 8 bits.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>La imagen tiene píxeles de coma flotante, sin un blanco definido. Guárdala con 8 bits.</translation>
    </message>
    <message>
        <source>The image has too many pixels; the most is {most}.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>La imagen tiene demasiados píxeles; el máximo es {most}.</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than can be read ({most}).</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La imagen tiene {width} × {height} píxeles, más de lo que se puede leer ({most}).</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels, more than the memory that is free can hold.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La imagen tiene {width} × {height} píxeles, más de lo que cabe en la memoria libre.</translation>
    </message>
    <message>
        <source>The image has {width} x {height} pixels; the most is {most} in all.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>La imagen tiene {width} × {height} píxeles; el máximo es {most} en total.</translation>
    </message>
    <message>
        <source>The image is damaged or incomplete ({kind}).</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>La imagen está dañada o incompleta ({kind}).</translation>
    </message>
    <message>
        <source>The image is empty.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>La imagen está vacía.</translation>
    </message>
    <message>
        <source>The image needs more memory than is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La imagen necesita más memoria de la que hay libre.</translation>
    </message>
    <message>
        <source>The image needs more memory than there is. Send a smaller one.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>La imagen necesita más memoria de la disponible. Envía una más pequeña.</translation>
    </message>
    <message>
        <source>The index was made by a newer version of Grus.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>El índice se creó con una versión más reciente de Grus.</translation>
    </message>
    <message>
        <source>The key is copied.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Clave copiada.</translation>
    </message>
    <message>
        <source>The library that runs models.</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>La biblioteca que ejecuta los modelos.</translation>
    </message>
    <message>
        <source>The list of new versions cannot be read. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>No se puede leer la lista de versiones nuevas. No se cambió nada.</translation>
    </message>
    <message>
        <source>The list of new versions is not trusted: {reason}. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>La lista de versiones nuevas no es de confianza: {reason}. No se cambió nada.</translation>
    </message>
    <message>
        <source>The list of new versions is too large. Nothing was changed.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>La lista de versiones nuevas es demasiado grande. No se cambió nada.</translation>
    </message>
    <message>
        <source>The log has more.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Hay más detalles en el registro.</translation>
    </message>
    <message>
        <source>The loudspeaker was disconnected. Connect one, then play again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>El altavoz se desconectó. Conecta uno y reproduce de nuevo.</translation>
    </message>
    <message>
        <source>The maximum length was reached. Press Continue for more.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Se alcanzó la longitud máxima. Pulsa Continuar para seguir.</translation>
    </message>
    <message>
        <source>The message was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation.py</extracomment>
        <translation>Se ha eliminado el mensaje.</translation>
    </message>
    <message>
        <source>The microphone could not be opened. Is another program using it?</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>No se pudo abrir el micrófono. ¿Lo está usando otro programa?</translation>
    </message>
    <message>
        <source>The microphone was disconnected. The recording so far is kept. Connect a microphone, then try again.</source>
        <extracomment>app/gui/sound/devices.py</extracomment>
        <translation>El micrófono se desconectó. Se conserva lo grabado hasta ahora. Conecta un micrófono e inténtalo de nuevo.</translation>
    </message>
    <message>
        <source>The model chosen last</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>El último modelo elegido</translation>
    </message>
    <message>
        <source>The model is not sure of this text.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>El modelo no está seguro de este texto.</translation>
    </message>
    <message>
        <source>The model made no voice of these words. Try another seed.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>El modelo no creó ninguna voz con estas palabras. Inténtalo de nuevo.</translation>
    </message>
    <message>
        <source>The model may call this tool.</source>
        <extracomment>app/gui/chat/composer.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>El modelo puede llamar a esta herramienta.</translation>
    </message>
    <message>
        <source>The model {model} writes no text.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>El modelo {model} no escribe texto.</translation>
    </message>
    <message>
        <source>The model {name} cannot be used here.</source>
        <extracomment>app/gui/model_box.py</extracomment>
        <translation>El modelo {name} no se puede usar aquí.</translation>
    </message>
    <message>
        <source>The model {name} could not be loaded: {kind}: {error}</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>No se pudo cargar el modelo {name}: {kind}: {error}</translation>
    </message>
    <message>
        <source>The model {name} is not loaded.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>El modelo {name} no está cargado.</translation>
    </message>
    <message>
        <source>The model {name} takes {size} MiB; the memory limit is {limit} MiB, and its sequences need room too.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>El modelo {name} ocupa {size} MiB; el límite de memoria es de {limit} MiB, y sus secuencias también necesitan espacio.</translation>
    </message>
    <message>
        <source>The name or folder of a small model with the same vocabulary, or of an EAGLE-3 head made for the model.</source>
        <extracomment>app/gui/settings/speculation.py</extracomment>
        <translation>Nombre o carpeta de un modelo pequeño con el mismo vocabulario, o de una cabeza EAGLE-3 hecha para el modelo.</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid.</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>La versión nueva está descargada y su firma es válida.</translation>
    </message>
    <message>
        <source>The new version is downloaded and its signature is valid. In a terminal: {command}</source>
        <extracomment>app/gui/viewmodels/updates.py</extracomment>
        <translation>La versión nueva está descargada y su firma es válida. En una terminal: {command}</translation>
    </message>
    <message>
        <source>The page</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>La página</translation>
    </message>
    <message>
        <source>The page can load nothing from the network and send nothing.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>La página no puede cargar nada de la red ni enviar nada.</translation>
    </message>
    <message>
        <source>The page is empty.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>La página está vacía.</translation>
    </message>
    <message>
        <source>The password is wrong.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>La contraseña no es correcta.</translation>
    </message>
    <message>
        <source>The process that answered has ended: {why}. Send the request again.</source>
        <extracomment>engine/parallel/replica_scheduler.py</extracomment>
        <translation>El proceso que respondía ha terminado: {why}. Envíe la solicitud de nuevo.</translation>
    </message>
    <message>
        <source>The project was removed. Its conversations are still here.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>El proyecto se quitó. Sus conversaciones siguen aquí.</translation>
    </message>
    <message>
        <source>The prompt has {tokens} tokens; the context holds {limit}, and a reply needs room too. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>El prompt tiene {tokens} tokens; en el contexto caben {limit}, y la respuesta también necesita espacio. Acórtalo.</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>El prompt está vacío.</translation>
    </message>
    <message>
        <source>The reading was stopped.</source>
        <extracomment>engine/pipelines/reading/reader.py, engine/pipelines/reading/session.py</extracomment>
        <translation>La lectura se detuvo.</translation>
    </message>
    <message>
        <source>The recording is clipped: {share} of its samples are as loud as it goes. Record it again, quieter.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>La grabación está saturada: el {share} de las muestras está al máximo. Graba de nuevo, más bajo.</translation>
    </message>
    <message>
        <source>The recording is silent.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>La grabación está en silencio.</translation>
    </message>
    <message>
        <source>The recording lasts {seconds} seconds. A voice can be taken from {least} to {most}; 3 to 15 are best.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>La grabación dura {seconds} segundos. Una voz se puede obtener de {least} a {most}; lo ideal son de 3 a 15.</translation>
    </message>
    <message>
        <source>The recording of {name} is too short to know the voice again.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>La grabación de {name} es demasiado corta para reconocer la voz.</translation>
    </message>
    <message>
        <source>The recording&apos;s codes do not belong to this model. Make the voice again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Los códigos de la grabación no pertenecen a este modelo. Crea la voz de nuevo.</translation>
    </message>
    <message>
        <source>The same seed gives the same answer.</source>
        <extracomment>app/gui/viewmodels/sampling.py</extracomment>
        <translation>La misma semilla da la misma respuesta.</translation>
    </message>
    <message>
        <source>The same, with fewer errors.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Lo mismo, con menos errores.</translation>
    </message>
    <message>
        <source>The server {name} was removed, with its key.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>Se quitó el servidor {name} con su clave.</translation>
    </message>
    <message>
        <source>The servers cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>No se pueden guardar los servidores en {file}: {reason}.</translation>
    </message>
    <message>
        <source>The system has no voice that speaks {language}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>El sistema no tiene ninguna voz que hable {language}.</translation>
    </message>
    <message>
        <source>The system has no voice {name}. It has: {voices}.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>El sistema no tiene ninguna voz {name}. Tiene: {voices}.</translation>
    </message>
    <message>
        <source>The system&apos;s voice failed ({reason}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>La voz del sistema ha fallado ({reason}).</translation>
    </message>
    <message>
        <source>The system&apos;s voices clone none. Choose a Qwen3-TTS Base model to clone.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Las voces del sistema no clonan otras. Para clonar, elige un modelo Qwen3-TTS Base.</translation>
    </message>
    <message>
        <source>The system&apos;s voices take no instructions.</source>
        <extracomment>engine/pipelines/speaking/system_voice.py</extracomment>
        <translation>Las voces del sistema no admiten instrucciones.</translation>
    </message>
    <message>
        <source>The text</source>
        <extracomment>app/gui/read/document.py</extracomment>
        <translation>El texto</translation>
    </message>
    <message>
        <source>The text cannot be typed ({error}); it is in the clipboard. On Debian, install libxtst6.</source>
        <extracomment>app/gui/keyboard/x11_paste.py</extracomment>
        <translation>El texto no se puede escribir ({error}); está en el portapapeles. En Debian, instale libxtst6.</translation>
    </message>
    <message>
        <source>The text has {length} characters; the most is {most}.</source>
        <extracomment>engine/pipelines/reading/book.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>El texto tiene {length} caracteres; el máximo es {most}.</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} are spoken at once.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>El texto tiene {length} caracteres; se leen {most} de una vez.</translation>
    </message>
    <message>
        <source>The text has {length} characters; {most} can be spoken at once.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>El texto tiene {length} caracteres; se pueden leer {most} de una vez.</translation>
    </message>
    <message>
        <source>The text has {tokens} tokens; the context holds {limit}. Shorten it.</source>
        <extracomment>engine/admission.py</extracomment>
        <translation>El texto tiene {tokens} tokens; en el contexto caben {limit}. Acórtalo.</translation>
    </message>
    <message>
        <source>The text is longer than its place on the page can hold.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>El texto es más largo de lo que cabe en su lugar de la página.</translation>
    </message>
    <message>
        <source>The text repeats itself.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>El texto se repite.</translation>
    </message>
    <message>
        <source>The text was read.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>Se leyó el texto.</translation>
    </message>
    <message>
        <source>The token cannot be kept in {file}: {reason}.</source>
        <extracomment>engine/secret_store.py</extracomment>
        <translation>El token no se puede guardar en {file}: {reason}.</translation>
    </message>
    <message>
        <source>The tokenizer of this model cannot be used.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>El tokenizador de este modelo no se puede usar.</translation>
    </message>
    <message>
        <source>The tools cannot be kept in {file}: {reason}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>Las herramientas no se pueden guardar en {file}: {reason}.</translation>
    </message>
    <message>
        <source>The tools file {file} cannot be read: {error}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>No se puede leer el archivo de herramientas {file}: {error}.</translation>
    </message>
    <message>
        <source>The tools file {file} is damaged. Correct it or delete it.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>El archivo de herramientas {file} está dañado. Corríjalo o elimínelo.</translation>
    </message>
    <message>
        <source>The voice did not come to an end. Try again, or with a shorter text.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>La voz no llegó a su fin. Inténtalo de nuevo o con un texto más corto.</translation>
    </message>
    <message>
        <source>The voice has {size} numbers and this model wants {wanted}: it was made for a model of another size. Make it again.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>La voz tiene {size} valores y este modelo necesita {wanted}: se creó para un modelo de otro tamaño. Créala de nuevo.</translation>
    </message>
    <message>
        <source>The voice was made for another model. Make it again.</source>
        <extracomment>engine/pipelines/speaking/omnivoice.py, engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>La voz se creó para otro modelo. Créela de nuevo.</translation>
    </message>
    <message>
        <source>The voice {name} does not fit this model.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>La voz {name} no es compatible con este modelo.</translation>
    </message>
    <message>
        <source>The voice {name} is damaged. Make it again from {sample}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>La voz {name} está dañada. Créala de nuevo a partir de {sample}.</translation>
    </message>
    <message>
        <source>The voice {name} is damaged: {path}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>La voz {name} está dañada: {path}.</translation>
    </message>
    <message>
        <source>The voice {name} is saved.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>La voz {name} se ha guardado.</translation>
    </message>
    <message>
        <source>The voice {name} was deleted.</source>
        <extracomment>app/gui/viewmodels/known_voices.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>La voz {name} se ha eliminado.</translation>
    </message>
    <message>
        <source>The weights of this model are damaged or incomplete.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Los pesos de este modelo están dañados o incompletos.</translation>
    </message>
    <message>
        <source>The weights take {weights} of the {limit} that may be used, which leaves no room for a conversation. Choose a smaller or more strongly quantized model, or raise the memory limit.</source>
        <extracomment>engine/shares.py</extracomment>
        <translation>Los pesos ocupan {weights} de los {limit} que se pueden usar, lo que no deja espacio para una conversación. Elige un modelo más pequeño o más cuantizado, o aumenta el límite de memoria.</translation>
    </message>
    <message>
        <source>There are no documents and no images in the folder {path}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>En la carpeta {path} no hay documentos ni imágenes.</translation>
    </message>
    <message>
        <source>There is a voice called {name} already. Choose another name, or delete it first.</source>
        <extracomment>engine/pipelines/speaking/voice.py, app/runtime/voice.py</extracomment>
        <translation>Ya hay una voz llamada {name}. Elige otro nombre o elimínala primero.</translation>
    </message>
    <message>
        <source>There is no file {path}.</source>
        <extracomment>engine/media/documents.py, app/runtime/imports/export_file.py</extracomment>
        <translation>No existe el archivo {path}.</translation>
    </message>
    <message>
        <source>There is no folder {path}.</source>
        <extracomment>engine/pipelines/reading/watching.py, app/runtime/library/folders.py, app/runtime/library/indexer.py</extracomment>
        <translation>No existe la carpeta {path}.</translation>
    </message>
    <message>
        <source>There is no other model</source>
        <extracomment>app/gui/chat/menus.py</extracomment>
        <translation>No hay ningún otro modelo</translation>
    </message>
    <message>
        <source>There is no room for another model while those that are loaded work.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>No hay espacio para otro modelo mientras trabajan los que están cargados.</translation>
    </message>
    <message>
        <source>There is no room for another model: all that are loaded are pinned.</source>
        <extracomment>engine/model_manager.py</extracomment>
        <translation>No hay espacio para otro modelo: todos los cargados están fijados.</translation>
    </message>
    <message>
        <source>There is no saved voice called {name}. Saved: {known}.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>No hay ninguna voz guardada llamada {name}. Guardadas: {known}.</translation>
    </message>
    <message>
        <source>There is no server {name} here. Added: {have}.</source>
        <extracomment>app/runtime/remote/servers.py</extracomment>
        <translation>Aquí no hay ningún servidor {name}. Añadidos: {have}.</translation>
    </message>
    <message>
        <source>There is no text to speak.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py, engine/pipelines/speaking/system_voice.py, engine/pipelines/speaking/voice.py</extracomment>
        <translation>No hay texto que leer.</translation>
    </message>
    <message>
        <source>There is no tool server {name}. Added: {have}.</source>
        <extracomment>app/runtime/tools/settings.py</extracomment>
        <translation>No hay ningún servidor de herramientas {name}. Añadidos: {have}.</translation>
    </message>
    <message>
        <source>There is no voice {name}. Choose one of {voices}.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py, engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>No hay ninguna voz {name}. Elige una de {voices}.</translation>
    </message>
    <message>
        <source>There is nothing to say: the text is empty.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py, engine/pipelines/speaking/qwen3_tts.py, engine/pipelines/speaking/speech.py</extracomment>
        <translation>No hay nada que leer: el texto está vacío.</translation>
    </message>
    <message>
        <source>There was nothing to speak.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>No había nada que leer.</translation>
    </message>
    <message>
        <source>These hold for all conversations in the project, also for those that are there already.</source>
        <extracomment>app/gui/chat/project_dialog.py</extracomment>
        <translation>Esto vale para todas las conversaciones del proyecto, también para las que ya existen.</translation>
    </message>
    <message>
        <source>This JSON file contains no conversation: it has no list of messages.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Este archivo JSON no contiene ninguna conversación: no tiene una lista de mensajes.</translation>
    </message>
    <message>
        <source>This address belongs to no sign-in that is waited for.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Esta dirección no corresponde a ningún inicio de sesión en espera.</translation>
    </message>
    <message>
        <source>This address comes from the model. Open it in your browser?</source>
        <extracomment>app/gui/chat/message_view.py</extracomment>
        <translation>Esta dirección la dio el modelo. ¿Abrirla en el navegador?</translation>
    </message>
    <message>
        <source>This archive cannot be imported: a part of it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Este archivo no se puede importar: una parte está dañada.</translation>
    </message>
    <message>
        <source>This archive is not a document that can be read: no docx, pptx, xlsx, odt, ods, odp or epub.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Este archivo comprimido no es un documento que se pueda leer: ni docx, pptx, xlsx, odt, ods, odp ni epub.</translation>
    </message>
    <message>
        <source>This archive was made by a newer Grus. Update Grus to import it.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Este archivo se creó con una versión más reciente de Grus. Actualice Grus para importarlo.</translation>
    </message>
    <message>
        <source>This conversation cannot be imported: one of its messages is incomplete.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>No se puede importar esta conversación: uno de sus mensajes está incompleto.</translation>
    </message>
    <message>
        <source>This conversation was exported by a newer version of Grus. Update Grus to import it.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Esta conversación se exportó con una versión más reciente de Grus. Actualiza Grus para importarla.</translation>
    </message>
    <message>
        <source>This copy of Chatterbox cannot clone: it is without its speech tokenizer. Put model.safetensors of mlx-community/S3TokenizerV2 beside it as {name}, or use ResembleAI/chatterbox.</source>
        <extracomment>engine/models/chatterbox_encoder.py</extracomment>
        <translation>Esta copia de Chatterbox no puede clonar: le falta su tokenizador de voz. Ponga model.safetensors de mlx-community/S3TokenizerV2 junto a ella como {name}, o use ResembleAI/chatterbox.</translation>
    </message>
    <message>
        <source>This copy of Chatterbox comes without a voice. Clone one from a recording.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Esta copia de Chatterbox no trae ninguna voz. Clone una a partir de una grabación.</translation>
    </message>
    <message>
        <source>This desktop does not let apps capture the screen. Take a screenshot with the desktop&apos;s own tool, then paste it here.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Este escritorio no permite que las aplicaciones capturen la pantalla. Haz una captura con la herramienta del escritorio y pégala aquí.</translation>
    </message>
    <message>
        <source>This desktop does not let apps see a key that is held. In its keyboard settings, add a shortcut for the command {command}, which begins dictation, and the next time ends it.</source>
        <extracomment>app/gui/dictation_key.py</extracomment>
        <translation>Este escritorio no permite que las aplicaciones vean una tecla mantenida. En sus ajustes de teclado, añada un atajo para el comando {command}, que empieza el dictado y la próxima vez lo termina.</translation>
    </message>
    <message>
        <source>This desktop does not let apps set global shortcuts. In its keyboard settings, add a shortcut for the command {command}, which brings the window to the front.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>Este escritorio no permite que las aplicaciones definan atajos globales. En sus ajustes de teclado, añade un atajo para el comando {command}, que trae la ventana al frente.</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others, so the text is in the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>Este escritorio no permite que una aplicación escriba en otras, por eso el texto está en el portapapeles. Instale wtype (Sway, Hyprland), o ydotool con su servicio (cualquier escritorio).</translation>
    </message>
    <message>
        <source>This desktop lets no app type into others. Copy puts the text into the clipboard. Install wtype (Sway, Hyprland), or ydotool with its service and wl-clipboard (any desktop).</source>
        <extracomment>app/gui/keyboard/wayland_typing.py</extracomment>
        <translation>Este escritorio no permite que una aplicación escriba en otras. Copiar pone el texto en el portapapeles. Instale wtype (Sway, Hyprland), o ydotool con su servicio y wl-clipboard (cualquier escritorio).</translation>
    </message>
    <message>
        <source>This download was interrupted. What was downloaded is kept.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Esta descarga se interrumpió. Lo descargado se conserva.</translation>
    </message>
    <message>
        <source>This file is not JSON. Import a conversation that was exported as JSON.</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Este archivo no es JSON. Importa una conversación que se haya exportado como JSON.</translation>
    </message>
    <message>
        <source>This file is not a Grus archive, or it is damaged.</source>
        <extracomment>app/gui/store/archive.py</extracomment>
        <translation>Este archivo no es de Grus o está dañado.</translation>
    </message>
    <message>
        <source>This is a Base model: it needs a recording of the voice that it is to speak in.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Este es un modelo Base: necesita una grabación de la voz con la que debe hablar.</translation>
    </message>
    <message>
        <source>This is a HEIC image, which needs one more package here: pip install pillow-heif. Or save the picture as JPEG or PNG.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>Es una imagen HEIC, que necesita un paquete más: pip install pillow-heif. O guarda la imagen como JPEG o PNG.</translation>
    </message>
    <message>
        <source>This is a binary Excel file (xlsb). Save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Es un archivo binario de Excel (xlsb). Guárdelo como xlsx.</translation>
    </message>
    <message>
        <source>This is an Outlook message (msg). Save it as eml, or print it to a PDF.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Es un mensaje de Outlook (msg). Guárdelo como eml o imprímalo en un PDF.</translation>
    </message>
    <message>
        <source>This is an old Excel file (xls). Open it in Excel or LibreOffice, and save it as xlsx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Es un archivo antiguo de Excel (xls). Ábralo en Excel o LibreOffice y guárdelo como xlsx.</translation>
    </message>
    <message>
        <source>This is an old Office file of a kind that is not read. Save it as docx, xlsx or pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Es un archivo antiguo de Office de un tipo que no se lee. Guárdelo como docx, xlsx o pptx.</translation>
    </message>
    <message>
        <source>This is an old PowerPoint file (ppt). Open it in PowerPoint or LibreOffice, and save it as pptx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Es un archivo antiguo de PowerPoint (ppt). Ábralo en PowerPoint o LibreOffice y guárdelo como pptx.</translation>
    </message>
    <message>
        <source>This is an old Word file (doc). Open it in Word or LibreOffice, and save it as docx.</source>
        <extracomment>engine/pipelines/reading/formats/documents.py</extracomment>
        <translation>Es un archivo antiguo de Word (doc). Ábralo en Word o LibreOffice y guárdelo como docx.</translation>
    </message>
    <message>
        <source>This is neither a document nor an image that can be read.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>No es un documento ni una imagen que se pueda leer.</translation>
    </message>
    <message>
        <source>This is not an image that can be read: {formats} can.</source>
        <extracomment>engine/media/image.py</extracomment>
        <translation>No es una imagen que se pueda leer. Se pueden leer: {formats}.</translation>
    </message>
    <message>
        <source>This is the Guide, a tiny helper that answers questions about Grus, in English.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>Esta es la Guía, una pequeña ayuda que responde en inglés a preguntas sobre Grus.</translation>
    </message>
    <message>
        <source>This is too long for the model: over {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Es demasiado largo para el modelo: más de {tokens} tokens, de los que puede procesar {limit} a la vez.</translation>
    </message>
    <message>
        <source>This is too long for the model: {tokens} tokens, of which it can process {limit} at once.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>Es demasiado largo para el modelo: {tokens} tokens, de los que puede procesar {limit} a la vez.</translation>
    </message>
    <message>
        <source>This machine could not be checked in time. Refresh in Models tries again.</source>
        <extracomment>engine/machine.py</extracomment>
        <translation>No se pudo comprobar este equipo a tiempo. «Actualizar» en «Modelos» lo intenta de nuevo.</translation>
    </message>
    <message>
        <source>This machine only</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Solo este equipo</translation>
    </message>
    <message>
        <source>This model also needs {model}. Download it in Models.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Este modelo también necesita {model}. Descárgalo en Modelos.</translation>
    </message>
    <message>
        <source>This model creates a voice from a description. Describe one below.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Este modelo crea una voz a partir de una descripción. Descríbela abajo.</translation>
    </message>
    <message>
        <source>This model does not speak {language}. It speaks {languages}.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Este modelo no habla {language}. Habla {languages}.</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. Choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Este modelo no permite clonar voces. Elija uno que sí: Qwen3-TTS Base, Chatterbox o Spark-TTS.</translation>
    </message>
    <message>
        <source>This model does not support voice cloning. For “{name}” choose one that does: Qwen3-TTS Base, Chatterbox or Spark-TTS.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Este modelo no permite clonar voces. Para «{name}», elija uno que sí: Qwen3-TTS Base, Chatterbox o Spark-TTS.</translation>
    </message>
    <message>
        <source>This model has no voices of its own: it needs a recording of the voice.</source>
        <extracomment>engine/pipelines/speaking/pocket_tts.py</extracomment>
        <translation>Este modelo no tiene voces propias: necesita una grabación de la voz.</translation>
    </message>
    <message>
        <source>This model is gated: accept its terms on Hugging Face first. Then enter your token here.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>El acceso a este modelo está restringido: acepta primero sus condiciones en Hugging Face. Después introduce aquí tu token.</translation>
    </message>
    <message>
        <source>This model needs a recorded voice. Create a new voice, or choose one.</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Este modelo necesita una voz grabada. Crea una voz nueva o elige una.</translation>
    </message>
    <message>
        <source>This model speaks English, not {language}.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Este modelo habla inglés, no {language}.</translation>
    </message>
    <message>
        <source>This model takes no instructions. The CustomVoice and VoiceDesign models of size 1.7B follow them.</source>
        <extracomment>engine/pipelines/speaking/qwen3_tts.py</extracomment>
        <translation>Este modelo no admite instrucciones. Los modelos CustomVoice y VoiceDesign de tamaño 1.7B las siguen.</translation>
    </message>
    <message>
        <source>This model was not found.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>No se encontró este modelo.</translation>
    </message>
    <message>
        <source>This month</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Este mes</translation>
    </message>
    <message>
        <source>This page has a table. {model} reads tables as tables, about {seconds} s a full page on this machine.</source>
        <extracomment>app/runtime/reading_advice.py</extracomment>
        <translation>Esta página contiene una tabla. {model} lee las tablas como tablas, unos {seconds} s por página llena en este equipo.</translation>
    </message>
    <message>
        <source>This picture cannot be drawn.</source>
        <extracomment>app/gui/chat/preview_panel.py, app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>No se puede dibujar esta imagen.</translation>
    </message>
    <message>
        <source>This picture defines entities, and is not drawn.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Esta imagen define entidades y no se dibuja.</translation>
    </message>
    <message>
        <source>This picture is too large for a preview.</source>
        <extracomment>app/gui/viewmodels/chat/preview.py</extracomment>
        <translation>Esta imagen es demasiado grande para una vista previa.</translation>
    </message>
    <message>
        <source>This release has no file of the kind {kind}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>Esta versión no tiene ningún archivo del tipo {kind}.</translation>
    </message>
    <message>
        <source>This system has no program that speaks ({hint}).</source>
        <extracomment>engine/media/system_speech.py</extracomment>
        <translation>Este sistema no tiene ningún programa que hable ({hint}).</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Chatterbox.</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>Esta voz la creó otro modelo. Clónela de nuevo con Chatterbox.</translation>
    </message>
    <message>
        <source>This voice was made by another model. Clone it again with Spark-TTS.</source>
        <extracomment>engine/pipelines/speaking/spark.py</extracomment>
        <translation>Esta voz se creó con otro modelo. Clónala de nuevo con Spark-TTS.</translation>
    </message>
    <message>
        <source>This week</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Esta semana</translation>
    </message>
    <message>
        <source>Threads on battery</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Hilos con batería</translation>
    </message>
    <message>
        <source>To another machine</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>A otro equipo</translation>
    </message>
    <message>
        <source>Today</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Hoy</translation>
    </message>
    <message>
        <source>Tokens and time</source>
        <extracomment>app/gui/chat/message_buttons.py</extracomment>
        <translation>Tokens y tiempo</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>Tokens por segundo</translation>
    </message>
    <message>
        <source>Too large for this machine: needs about {needed} of {has}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Demasiado grande para este equipo: necesita unos {needed} de {has}.</translation>
    </message>
    <message>
        <source>Tool</source>
        <extracomment>app/gui/viewmodels/chat/exchange.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Herramienta</translation>
    </message>
    <message>
        <source>Tool call: {tool}</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Llamada a herramienta: {tool}</translation>
    </message>
    <message>
        <source>Tools</source>
        <extracomment>app/gui/chat/project_dialog.py, app/gui/settings/tools.py</extracomment>
        <translation>Herramientas</translation>
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
        <translation>Transcribir de nuevo</translation>
    </message>
    <message>
        <source>Transcribe speech</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>Transcribir voz</translation>
    </message>
    <message>
        <source>Transcribes English speech while you talk, on any machine.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcribe inglés mientras hablas, en cualquier equipo.</translation>
    </message>
    <message>
        <source>Transcribes long recordings in 25 European languages, with the time of every word.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcribe grabaciones largas en 25 idiomas europeos, con el tiempo de cada palabra.</translation>
    </message>
    <message>
        <source>Transcribes speech in 30 languages, in noise as well.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcribe voz en 30 idiomas, también con ruido.</translation>
    </message>
    <message>
        <source>Transcribes speech in 8 languages, and answers questions about a recording.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcribe voz en 8 idiomas y responde a preguntas sobre una grabación.</translation>
    </message>
    <message>
        <source>Transcribes speech in 99 languages.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Transcribe voz en 99 idiomas.</translation>
    </message>
    <message>
        <source>Transcript</source>
        <extracomment>app/gui/listen/segment_table.py</extracomment>
        <translation>Transcripción</translation>
    </message>
    <message>
        <source>Transcript of the recording</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Transcripción de la grabación</translation>
    </message>
    <message>
        <source>Transcript of the recording, for a closer voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Transcripción de la grabación, para una voz más fiel</translation>
    </message>
    <message>
        <source>Transcription</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Transcripción</translation>
    </message>
    <message>
        <source>Troubleshooting</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Solución de problemas</translation>
    </message>
    <message>
        <source>Turned by 180 degrees.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Girada 180 grados.</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the left.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Girada 90 grados a la izquierda.</translation>
    </message>
    <message>
        <source>Turned by 90 degrees to the right.</source>
        <extracomment>engine/pipelines/reading/upright.py</extracomment>
        <translation>Girada 90 grados a la derecha.</translation>
    </message>
    <message>
        <source>Type a name and press Enter. Only these words are sent, to huggingface.co.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Escribe un nombre y pulsa Intro. Solo se envían estas palabras, a huggingface.co.</translation>
    </message>
    <message>
        <source>Type the result of the tool call.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>Escribe el resultado de la llamada a la herramienta.</translation>
    </message>
    <message>
        <source>Type what to search for: a model&apos;s name, or who made it.</source>
        <extracomment>engine/hub/searching.py</extracomment>
        <translation>Escribe qué buscar: el nombre de un modelo o de quien lo hizo.</translation>
    </message>
    <message>
        <source>Understands images and pages. Reasoning is optional.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Comprende imágenes y páginas. Razonamiento opcional.</translation>
    </message>
    <message>
        <source>Understands images, screenshots and charts, and answers questions about them.</source>
        <extracomment>resources/catalogue.json</extracomment>
        <translation>Comprende imágenes, capturas de pantalla y gráficos, y responde preguntas sobre ellos.</translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>app/gui/bars.py, app/gui/listen/pane.py, app/gui/viewmodels/agents.py, app/gui/viewmodels/chat/conversation.py, app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/known_voices.py, app/gui/viewmodels/memories.py, app/gui/viewmodels/models/library.py, app/gui/viewmodels/results.py, app/gui/viewmodels/speak.py, app/gui/viewmodels/transfer.py</extracomment>
        <translation>Deshacer</translation>
    </message>
    <message>
        <source>Unload</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Descargar de memoria</translation>
    </message>
    <message>
        <source>Unloading {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Descargando {model} de la memoria.</translation>
    </message>
    <message>
        <source>Unpacking.</source>
        <extracomment>app/gui/viewmodels/cuda_pack.py</extracomment>
        <translation>Descomprimiendo.</translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>app/gui/chat/actions.py</extracomment>
        <translation>Desfijar</translation>
    </message>
    <message>
        <source>Until Grus is closed.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Hasta que se cierre Grus.</translation>
    </message>
    <message>
        <source>Untitled</source>
        <extracomment>app/gui/chat/conversation_list.py</extracomment>
        <translation>Sin título</translation>
    </message>
    <message>
        <source>Update the library</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>Actualizar la biblioteca</translation>
    </message>
    <message>
        <source>Updates</source>
        <extracomment>app/gui/settings/updates.py</extracomment>
        <translation>Actualizaciones</translation>
    </message>
    <message>
        <source>Use</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Usar</translation>
    </message>
    <message>
        <source>Use a library</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Usar una biblioteca</translation>
    </message>
    <message>
        <source>Use a prompt</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/server_items.py</extracomment>
        <translation>Usar un prompt</translation>
    </message>
    <message>
        <source>Use a prompt…</source>
        <extracomment>app/gui/chat/uses.py</extracomment>
        <translation>Usar un prompt…</translation>
    </message>
    <message>
        <source>Use default</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Usar el predeterminado</translation>
    </message>
    <message>
        <source>Use text in PDFs</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Usar el texto de los PDF</translation>
    </message>
    <message>
        <source>Use the text layer of a PDF instead of recognizing its image.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Usar la capa de texto de un PDF en lugar de reconocer su imagen.</translation>
    </message>
    <message>
        <source>Use tools</source>
        <extracomment>app/gui/chat/actions.py, app/gui/chat/composer.py</extracomment>
        <translation>Usar herramientas</translation>
    </message>
    <message>
        <source>Use {model}</source>
        <extracomment>app/gui/chat/pane.py, app/gui/chat/picture_bar.py</extracomment>
        <translation>Usar {model}</translation>
    </message>
    <message>
        <source>Using the token of the Hugging Face command line, from {file}.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>Se usa el token de la línea de comandos de Hugging Face, de {file}.</translation>
    </message>
    <message>
        <source>Variables or headers: NAME=VALUE, one in each line</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Variables o cabeceras: NOMBRE=VALOR, una por línea</translation>
    </message>
    <message>
        <source>Verify files</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Verificar archivos</translation>
    </message>
    <message>
        <source>Verifying</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>Verificando</translation>
    </message>
    <message>
        <source>Verifying the files of {model}.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Verificando los archivos de {model}.</translation>
    </message>
    <message>
        <source>Vision</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/library.py</extracomment>
        <translation>Visión</translation>
    </message>
    <message>
        <source>Voice</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Voz</translation>
    </message>
    <message>
        <source>Voice recognition</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>Reconocimiento de voces</translation>
    </message>
    <message>
        <source>Waiting</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py</extracomment>
        <translation>En espera</translation>
    </message>
    <message>
        <source>Waiting for the model.</source>
        <extracomment>app/gui/viewmodels/chat/reply_stream.py, app/window_reply.py</extracomment>
        <translation>Esperando al modelo.</translation>
    </message>
    <message>
        <source>Watch a folder</source>
        <extracomment>app/gui/read/pane.py, app/gui/read/watch.py</extracomment>
        <translation>Vigilar una carpeta</translation>
    </message>
    <message>
        <source>Watching</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>En vigilancia</translation>
    </message>
    <message>
        <source>Waveform</source>
        <extracomment>app/gui/sound/player.py</extracomment>
        <translation>Forma de onda</translation>
    </message>
    <message>
        <source>Web page</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Página web</translation>
    </message>
    <message>
        <source>Web page reader</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Lector de páginas web</translation>
    </message>
    <message>
        <source>Web search</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Búsqueda web</translation>
    </message>
    <message>
        <source>Weights</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Pesos</translation>
    </message>
    <message>
        <source>What answered is not Hugging Face. A sign-in page of this network, or a wrong HF_ENDPOINT, may stand in between.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>La respuesta no es de Hugging Face. Puede haber una página de inicio de sesión de esta red o un HF_ENDPOINT incorrecto.</translation>
    </message>
    <message>
        <source>What appears in the folder is read, and the result is written beside its file.</source>
        <extracomment>app/gui/read/watch.py</extracomment>
        <translation>Lo que aparece en la carpeta se lee, y el resultado se guarda junto al archivo.</translation>
    </message>
    <message>
        <source>What can you help me with?</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>¿En qué puedes ayudarme?</translation>
    </message>
    <message>
        <source>What it is asked leaves this machine.</source>
        <extracomment>app/gui/chat/tool_call.py</extracomment>
        <translation>Lo que se le pregunta sale de este equipo.</translation>
    </message>
    <message>
        <source>What its tools are asked leaves this machine.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Lo que se pregunta a sus herramientas sale de este equipo.</translation>
    </message>
    <message>
        <source>What the model should know and how it should answer.</source>
        <extracomment>app/gui/chat/panel.py, app/gui/chat/project_dialog.py</extracomment>
        <translation>Lo que el modelo debe saber y cómo debe responder.</translation>
    </message>
    <message>
        <source>What the voice is like: an old man, warm and slow</source>
        <extracomment>app/gui/viewmodels/speak_options.py</extracomment>
        <translation>Cómo es la voz: un hombre mayor, cálida y lenta</translation>
    </message>
    <message>
        <source>What to read</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Qué leer</translation>
    </message>
    <message>
        <source>What tool servers have to read goes with your message as a file.</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>Lo que ofrecen para leer los servidores de herramientas va con su mensaje como archivo.</translation>
    </message>
    <message>
        <source>Where the browser shows an error: the address at which it ended</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Si el navegador muestra un error: la dirección en la que terminó</translation>
    </message>
    <message>
        <source>Whole page</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>Página completa</translation>
    </message>
    <message>
        <source>Window</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Ventana</translation>
    </message>
    <message>
        <source>Windows does not let Grus type into this app; the text is in the clipboard. Press Ctrl+V there.</source>
        <extracomment>app/gui/keyboard/windows_paste.py</extracomment>
        <translation>Windows no permite que Grus escriba en esta aplicación; el texto está en el portapapeles. Pulse Ctrl+V en ella.</translation>
    </message>
    <message>
        <source>With headphones, you can interrupt the voice by speaking. With loudspeakers, turn this off: Grus then listens after it has finished speaking.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Con auriculares puedes interrumpir la voz hablando. Con altavoces, desactiva esta opción: Grus escuchará cuando termine de hablar.</translation>
    </message>
    <message>
        <source>Without network and without your files, with limits on time and memory.</source>
        <extracomment>app/gui/chat/preview_panel.py</extracomment>
        <translation>Sin red y sin sus archivos, con límites de tiempo y memoria.</translation>
    </message>
    <message>
        <source>Work offline</source>
        <extracomment>app/gui/settings/pane.py</extracomment>
        <translation>Trabajar sin conexión</translation>
    </message>
    <message>
        <source>Works in every app. Clear the field for none.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>Funciona en todas las aplicaciones. Borra el campo para no usar ninguno.</translation>
    </message>
    <message>
        <source>Write NAME=VALUE in each line.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Escriba NOMBRE=VALOR en cada línea.</translation>
    </message>
    <message>
        <source>Write a message</source>
        <extracomment>app/gui/chat/composer.py</extracomment>
        <translation>Escribe un mensaje</translation>
    </message>
    <message>
        <source>Write, or drop a document</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>Escribe o suelta un documento</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>Ayer</translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>app/gui/chat/message_view.py, app/gui/viewmodels/chat/exchange.py</extracomment>
        <translation>Tú</translation>
    </message>
    <message>
        <source>You are signed in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>Ha iniciado sesión.</translation>
    </message>
    <message>
        <source>You are signed out of {name} here.</source>
        <extracomment>app/gui/viewmodels/tools.py</extracomment>
        <translation>Ha cerrado aquí la sesión de {name}.</translation>
    </message>
    <message>
        <source>Your conversations cannot be opened: {reason}. The file is unchanged, and Grus will retry.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>No se pueden abrir tus conversaciones: {reason}. El archivo no ha cambiado y Grus volverá a intentarlo.</translation>
    </message>
    <message>
        <source>Your conversations were saved by a newer version of Grus. Update Grus to open them. The file is unchanged.</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>Tus conversaciones se guardaron con una versión más reciente de Grus. Actualiza Grus para abrirlas. El archivo no ha cambiado.</translation>
    </message>
    <message>
        <source>Your last changes are not saved yet. Close the window again to discard them.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>Tus últimos cambios aún no se han guardado. Cierra la ventana de nuevo para descartarlos.</translation>
    </message>
    <message>
        <source>Your message was sent.</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>Tu mensaje se ha enviado.</translation>
    </message>
    <message>
        <source>Your settings could not be read. They were saved as {file}, and Grus started with default settings.</source>
        <extracomment>app/gui/window.py</extracomment>
        <translation>No se pudieron leer tus ajustes. Se guardaron como {file} y Grus empezó con los ajustes predeterminados.</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Acercar</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>Alejar</translation>
    </message>
    <message>
        <source>about {n} tokens/s</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>unos {n} tokens/s</translation>
    </message>
    <message>
        <source>about {size}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>unos {size}</translation>
    </message>
    <message>
        <source>another program is using it</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>otro programa lo está usando</translation>
    </message>
    <message>
        <source>bubblewrap does not run on this machine: {reason}</source>
        <extracomment>app/runtime/tools/sandbox.py</extracomment>
        <translation>bubblewrap no funciona en este equipo: {reason}</translation>
    </message>
    <message>
        <source>chapter {n} of {total}</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>capítulo {n} de {total}</translation>
    </message>
    <message>
        <source>espeak-ng failed ({reason}).</source>
        <extracomment>engine/pipelines/speaking/phonemes.py</extracomment>
        <translation>espeak-ng ha fallado ({reason}).</translation>
    </message>
    <message>
        <source>fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>rápido</translation>
    </message>
    <message>
        <source>first token after {time}</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>primer token tras {time}</translation>
    </message>
    <message>
        <source>fits</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>cabe</translation>
    </message>
    <message>
        <source>from disk</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>desde el disco</translation>
    </message>
    <message>
        <source>gated</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>acceso restringido</translation>
    </message>
    <message>
        <source>give Grus a token of your account: `grus token set`, Settings in the window, or HF_TOKEN</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>da a Grus un token de tu cuenta: en los Ajustes de la ventana, con `grus token set` o HF_TOKEN</translation>
    </message>
    <message>
        <source>high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>alto</translation>
    </message>
    <message numerus="yes">
        <source>in {n} segments</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>en {n} segmento</numerusform>
            <numerusform>en {n} segmentos</numerusform>
        </translation>
    </message>
    <message>
        <source>installed</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>instalado</translation>
    </message>
    <message>
        <source>loaded</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>cargado</translation>
    </message>
    <message>
        <source>low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>grave</translation>
    </message>
    <message>
        <source>macOS does not let Grus type into other apps yet: allow it in System Settings, Privacy &amp; Security, Accessibility. The text is in the clipboard.</source>
        <extracomment>app/gui/keyboard/mac_paste.py</extracomment>
        <translation>macOS todavía no permite que Grus escriba en otras aplicaciones: autorícelo en Ajustes del Sistema, Privacidad y seguridad, Accesibilidad. El texto está en el portapapeles.</translation>
    </message>
    <message>
        <source>moderate</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>moderado</translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>ahora</translation>
    </message>
    <message>
        <source>recommended</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>recomendado</translation>
    </message>
    <message>
        <source>slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>lento</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>el disco está lleno</translation>
    </message>
    <message>
        <source>the disk reports an error</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>el disco informa de un error</translation>
    </message>
    <message>
        <source>the file cannot be opened</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>el archivo no se puede abrir</translation>
    </message>
    <message>
        <source>the file is read-only</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>el archivo es de solo lectura</translation>
    </message>
    <message>
        <source>there are too many unsaved changes</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>hay demasiados cambios sin guardar</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <extracomment>app/gui/store/worker.py</extracomment>
        <translation>no hay suficiente memoria</translation>
    </message>
    <message>
        <source>tight</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>justo</translation>
    </message>
    <message>
        <source>too large</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>demasiado grande</translation>
    </message>
    <message>
        <source>vLLM, SGLang, llama-server, LM Studio, Ollama or another Grus. What you send to its models leaves this machine.</source>
        <extracomment>app/gui/models/remote_form.py</extracomment>
        <translation>vLLM, SGLang, llama-server, LM Studio, Ollama u otro Grus. Lo que envíe a sus modelos sale de este equipo.</translation>
    </message>
    <message>
        <source>very fast</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>muy rápido</translation>
    </message>
    <message>
        <source>very high</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>muy alto</translation>
    </message>
    <message>
        <source>very low</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>muy grave</translation>
    </message>
    <message>
        <source>very slow</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>muy lento</translation>
    </message>
    <message>
        <source>{about} Details: {error}</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{about} Detalles: {error}</translation>
    </message>
    <message>
        <source>{app}, {path}</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{app}, {path}</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{done} de {total}</translation>
    </message>
    <message>
        <source>{done} of {total} files</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>{done} de {total} archivos</translation>
    </message>
    <message>
        <source>{done} of {total} pages</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{done} de {total} páginas</translation>
    </message>
    <message>
        <source>{file} cannot be read ({why}). Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>No se puede leer {file} ({why}). Corríjalo primero; no se ha cambiado nada.</translation>
    </message>
    <message>
        <source>{file} cannot be read, so no voice was changed. Move it away to begin anew.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>No se puede leer {file}, así que no se cambió ninguna voz. Muévalo a otro lugar para empezar de nuevo.</translation>
    </message>
    <message>
        <source>{file} cannot be replaced: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>No se puede reemplazar {file}: {reason}.</translation>
    </message>
    <message>
        <source>{file} could not be written: {reason}.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>No se pudo escribir {file}: {reason}.</translation>
    </message>
    <message>
        <source>{file} holds no settings. Correct it first; nothing was changed.</source>
        <extracomment>app/agents/settings_text.py</extracomment>
        <translation>{file} no contiene ajustes. Corríjalo primero; no se ha cambiado nada.</translation>
    </message>
    <message>
        <source>{file} holds {name}, which leads out of its folder. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} contiene {name}, que lleva fuera de su carpeta. No se importa.</translation>
    </message>
    <message>
        <source>{file} is being changed by another program. Try again in a moment.</source>
        <extracomment>app/runtime/known_voices.py</extracomment>
        <translation>Otro programa está modificando {file}. Inténtelo de nuevo en un momento.</translation>
    </message>
    <message>
        <source>{file} is damaged: it cannot be unpacked as a whole.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} está dañado: no se puede descomprimir por completo.</translation>
    </message>
    <message>
        <source>{file} is encrypted. Unpack it, and import what is in it.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} está cifrado. Descomprímalo e importe su contenido.</translation>
    </message>
    <message>
        <source>{file} is no export of ChatGPT, Claude, LM Studio, Jan or Open WebUI that can be read.</source>
        <extracomment>app/runtime/imports/exports.py</extracomment>
        <translation>{file} no es una exportación legible de ChatGPT, Claude, LM Studio, Jan u Open WebUI.</translation>
    </message>
    <message>
        <source>{file} is no text in UTF-8. Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} no es texto en UTF-8. No se ha cambiado nada.</translation>
    </message>
    <message>
        <source>{file} is not there any more.</source>
        <extracomment>app/gui/chat/pane.py</extracomment>
        <translation>{file} ya no está ahí.</translation>
    </message>
    <message>
        <source>{file} is written in a way that Grus cannot change safely ({why}). Nothing was changed.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>{file} está escrito de un modo que Grus no puede cambiar con seguridad ({why}). No se ha cambiado nada.</translation>
    </message>
    <message>
        <source>{file} unpacks to more than an export can be. It is not imported.</source>
        <extracomment>app/runtime/imports/export_file.py</extracomment>
        <translation>{file} ocupa al descomprimirse más de lo que puede ocupar una exportación. No se importa.</translation>
    </message>
    <message>
        <source>{file}: {reason}.</source>
        <extracomment>app/explain.py</extracomment>
        <translation>{file}: {reason}.</translation>
    </message>
    <message>
        <source>{folder} contains no model: no config.json with weights, and no GGUF file.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{folder} no contiene ningún modelo: ni config.json con pesos, ni un archivo GGUF.</translation>
    </message>
    <message>
        <source>{folder} holds an unfinished audiobook of another text, voice or settings. Delete it, or choose another name.</source>
        <extracomment>engine/pipelines/speaking/passage_store.py</extracomment>
        <translation>{folder} contiene un audiolibro sin terminar de otro texto, otra voz u otros ajustes. Elimine la carpeta, o elija otro nombre.</translation>
    </message>
    <message>
        <source>{free} are free.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>Quedan {free} libres.</translation>
    </message>
    <message>
        <source>{given} could not be read: {reason}.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>No se pudo leer {given}: {reason}.</translation>
    </message>
    <message>
        <source>{how_far}, {rate}/s, {left} left</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{how_far}, {rate}/s, quedan {left}</translation>
    </message>
    <message>
        <source>{keys} cannot be used. Use a letter, a digit, Space or F1 to F12, with Ctrl, Alt or Meta.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} no se puede usar. Usa una letra, un dígito, Espacio o de F1 a F12, con Ctrl, Alt o Meta.</translation>
    </message>
    <message>
        <source>{keys} cannot be used: {error}. Choose other keys.</source>
        <extracomment>app/gui/hotkey.py</extracomment>
        <translation>{keys} no se puede usar: {error}. Elige otras teclas.</translation>
    </message>
    <message>
        <source>{kinds}. Search for {name} to download one of these.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{kinds}. Busca {name} para descargar uno de estos.</translation>
    </message>
    <message>
        <source>{model} answers without the images in this conversation.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} responde sin las imágenes de esta conversación.</translation>
    </message>
    <message>
        <source>{model} clones no voices from here.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} no clona voces desde aquí.</translation>
    </message>
    <message>
        <source>{model} does not hear sound.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} no escucha sonido.</translation>
    </message>
    <message>
        <source>{model} does not know the task {task}: the page is read as text. PaddleOCR-VL 1.5 knows every task.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} no conoce la tarea {task}: la página se lee como texto. PaddleOCR-VL 1.5 conoce todas las tareas.</translation>
    </message>
    <message>
        <source>{model} does not speak.</source>
        <extracomment>app/runtime/remote/model.py</extracomment>
        <translation>{model} no habla.</translation>
    </message>
    <message>
        <source>{model} does not speak. Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus and Spark-TTS models do.</source>
        <extracomment>engine/pipelines/speaking/speech_models.py</extracomment>
        <translation>{model} no habla. Los modelos Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus y Spark-TTS sí.</translation>
    </message>
    <message>
        <source>{model} does not support images.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} no admite imágenes.</translation>
    </message>
    <message>
        <source>{model} does not support tool calls. It answers without tools.</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>{model} no admite llamadas a herramientas. Responde sin ellas.</translation>
    </message>
    <message>
        <source>{model} does not write whole pages: its regions are read.</source>
        <extracomment>engine/pipelines/reading/reader.py</extracomment>
        <translation>{model} no escribe páginas completas: se leen las regiones de la página.</translation>
    </message>
    <message>
        <source>{model} has no voices: its folder `voices` is missing. Download it again.</source>
        <extracomment>engine/pipelines/speaking/kokoro.py</extracomment>
        <translation>{model} no tiene voces: falta su carpeta `voices`. Descárgalo de nuevo.</translation>
    </message>
    <message>
        <source>{model} is installed. Its checksums are correct.</source>
        <extracomment>app/gui/viewmodels/models/downloads.py</extracomment>
        <translation>{model} está instalado. Sus sumas de comprobación son correctas.</translation>
    </message>
    <message>
        <source>{model} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.</source>
        <extracomment>engine/pipelines/reading/layout_model.py</extracomment>
        <translation>{model} no es un modelo de diseño de página. PaddlePaddle/PP-DocLayoutV2 lo es.</translation>
    </message>
    <message>
        <source>{model} is not the id of a repository.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{model} no es el identificador de un repositorio.</translation>
    </message>
    <message>
        <source>{model} is ready.</source>
        <extracomment>app/gui/chat/pane.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} está listo.</translation>
    </message>
    <message>
        <source>{model} is ready. Write your first message.</source>
        <extracomment>app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{model} está listo. Escribe tu primer mensaje.</translation>
    </message>
    <message>
        <source>{model} reads pages line by line and talks about no images. Read them with grus read.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} lee páginas línea por línea y no conversa sobre imágenes. Ábrelas en Leer.</translation>
    </message>
    <message>
        <source>{model} reads text only and does not see images.</source>
        <extracomment>engine/pipelines/prompt.py</extracomment>
        <translation>{model} solo lee texto y no ve imágenes.</translation>
    </message>
    <message>
        <source>{model} reads text, not images. Choose a vision model.</source>
        <extracomment>engine/pipelines/reading/recognizer.py</extracomment>
        <translation>{model} lee texto, no imágenes. Elige un modelo con visión.</translation>
    </message>
    <message>
        <source>{model} receives the text of the image.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{model} recibe el texto de la imagen.</translation>
    </message>
    <message>
        <source>{model} runs on another server, which gives no times of words.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} se ejecuta en otro servidor, que no da los tiempos de las palabras.</translation>
    </message>
    <message>
        <source>{model} transcribes {own}, not {language}. Choose a model for that language.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{model} transcribe {own}, no {language}. Elige un modelo para ese idioma.</translation>
    </message>
    <message>
        <source>{model} was deleted. {size} will be freed in 30 seconds.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} se ha eliminado. Se liberarán {size} en 30 segundos.</translation>
    </message>
    <message>
        <source>{model} was removed from the list. Its files were not deleted.</source>
        <extracomment>app/gui/viewmodels/models/library.py</extracomment>
        <translation>{model} se ha quitado de la lista. Sus archivos no se han eliminado.</translation>
    </message>
    <message>
        <source>{names}: unsupported format. Supported: WAV, FLAC, MP3, OGG, Opus, AIFF, AU and CAF.</source>
        <extracomment>app/gui/listen/pane.py</extracomment>
        <translation>{names}: formato no compatible. Formatos compatibles: WAV, FLAC, MP3, OGG, Opus, AIFF, AU y CAF.</translation>
    </message>
    <message>
        <source>{name} (optional)</source>
        <extracomment>app/gui/chat/server_items.py</extracomment>
        <translation>{name} (opcional)</translation>
    </message>
    <message>
        <source>{name} answered something that is not OpenAI&apos;s API. Is the address right?</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} respondió algo que no es la API de OpenAI. ¿Es correcta la dirección?</translation>
    </message>
    <message>
        <source>{name} answered with status {status}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} respondió con el estado {status}.</translation>
    </message>
    <message>
        <source>{name} answered with status {status}: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} respondió con el estado {status}: {error}</translation>
    </message>
    <message>
        <source>{name} answers from another address. Add the address that it leads to.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} responde desde otra dirección. Añada la dirección a la que lleva.</translation>
    </message>
    <message>
        <source>{name} answers: what you send leaves this machine.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>Responde {name}: lo que envía sale de este equipo.</translation>
    </message>
    <message>
        <source>{name} asks you to sign in.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} le pide que inicie sesión.</translation>
    </message>
    <message>
        <source>{name} cannot be opened. {why}</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>No se puede abrir {name}. {why}</translation>
    </message>
    <message>
        <source>{name} cannot be opened: it is damaged or password-protected.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} no se puede abrir: está dañado o protegido con contraseña.</translation>
    </message>
    <message>
        <source>{name} cannot be opened: the file is damaged.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} no se puede abrir: el archivo está dañado.</translation>
    </message>
    <message>
        <source>{name} cannot be reached: nothing answers at {host}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>No se puede acceder a {name}: nada responde en {host}.</translation>
    </message>
    <message>
        <source>{name} contains no text that can be spoken.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} no contiene texto que se pueda leer en voz alta.</translation>
    </message>
    <message>
        <source>{name} contains no text.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} no contiene texto.</translation>
    </message>
    <message>
        <source>{name} contains no text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/speak.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} no contiene texto. Ábrelo primero en Leer.</translation>
    </message>
    <message>
        <source>{name} contains scanned pages without text. Open it in Read first.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} contiene páginas escaneadas sin texto. Ábrelo primero en Leer.</translation>
    </message>
    <message>
        <source>{name} could not be downloaded: {reason}. What arrived is kept.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>No se pudo descargar {name}: {reason}. Lo que llegó se conserva.</translation>
    </message>
    <message>
        <source>{name} could not be read as sound ({reason}). {formats} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} no se pudo leer como sonido ({reason}). Se pueden leer: {formats}.</translation>
    </message>
    <message>
        <source>{name} could not be saved: {reason}.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>No se pudo guardar {name}: {reason}.</translation>
    </message>
    <message>
        <source>{name} does not know voices again. WavLM models for x-vectors do.</source>
        <extracomment>engine/pipelines/listening/voice_prints.py</extracomment>
        <translation>{name} no reconoce voces. Los modelos WavLM para x-vectors sí.</translation>
    </message>
    <message>
        <source>{name} does not listen. Choose a model that does, openai/whisper-small for example.</source>
        <extracomment>engine/pipelines/listening/transcription.py</extracomment>
        <translation>{name} no transcribe voz. Elige un modelo que lo haga, por ejemplo openai/whisper-small.</translation>
    </message>
    <message>
        <source>{name} does not take this: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} no lo acepta: {error}</translation>
    </message>
    <message>
        <source>{name} does not tell speakers apart. Sortformer models do.</source>
        <extracomment>engine/pipelines/listening/speakers.py</extracomment>
        <translation>{name} no distingue a los hablantes. Los modelos Sortformer sí.</translation>
    </message>
    <message>
        <source>{name} ended the connection before the reply was complete.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} cerró la conexión antes de completar la respuesta.</translation>
    </message>
    <message>
        <source>{name} ended the reply: {error}</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} interrumpió la respuesta: {error}</translation>
    </message>
    <message>
        <source>{name} has no model {model}, or does not do this.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} no tiene el modelo {model}, o no puede hacer esto.</translation>
    </message>
    <message>
        <source>{name} has written nothing.</source>
        <extracomment>app/gui/settings/tools.py</extracomment>
        <translation>{name} no ha escrito nada.</translation>
    </message>
    <message>
        <source>{name} has {own} samples a second; {least} to {most} are read.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} tiene {own} muestras por segundo; se leen de {least} a {most}.</translation>
    </message>
    <message>
        <source>{name} holds no sound.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} no contiene sonido.</translation>
    </message>
    <message>
        <source>{name} holds samples that are no numbers. The file is damaged.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} contiene muestras no válidas. El archivo está dañado.</translation>
    </message>
    <message>
        <source>{name} ignored response_format: its reply is not JSON.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} ignoró response_format: su respuesta no es JSON.</translation>
    </message>
    <message>
        <source>{name} ignored response_format: {where} of its reply does not fit the schema.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} ignoró response_format: {where} de su respuesta no se ajusta al esquema.</translation>
    </message>
    <message>
        <source>{name} ignored tool_choice: its reply calls no tool.</source>
        <extracomment>app/runtime/remote/chat.py</extracomment>
        <translation>{name} ignoró tool_choice: su respuesta no llama a ninguna herramienta.</translation>
    </message>
    <message>
        <source>{name} is busy, or its limit is reached. Try again later.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} está ocupado o alcanzó su límite. Inténtelo más tarde.</translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} está vacío.</translation>
    </message>
    <message>
        <source>{name} is larger than 512 MB. Choose a smaller file.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} supera los 512 MB. Elige un archivo más pequeño.</translation>
    </message>
    <message>
        <source>{name} is longer than {longest}. Split it first.</source>
        <extracomment>engine/media/sound.py</extracomment>
        <translation>{name} dura más de {longest}. Divídelo primero.</translation>
    </message>
    <message>
        <source>{name} is no name for a voice: letters, digits, spaces, dots and dashes, 64 at most.</source>
        <extracomment>engine/pipelines/speaking/voice.py</extracomment>
        <translation>{name} no es un nombre de voz: letras, números, espacios, puntos y guiones, 64 como máximo.</translation>
    </message>
    <message>
        <source>{name} is no name of a speaker: up to 40 letters, digits, spaces and dashes.</source>
        <extracomment>engine/pipelines/speaking/audiobook.py</extracomment>
        <translation>{name} no es un nombre de hablante: hasta 40 letras, cifras, espacios y guiones.</translation>
    </message>
    <message>
        <source>{name} is not a book that can be read. Choose one of: {kinds}.</source>
        <extracomment>engine/pipelines/reading/book.py</extracomment>
        <translation>{name} no es un libro que se pueda leer. Elija uno de: {kinds}.</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <extracomment>engine/media/sound.py, engine/pipelines/reading/book.py</extracomment>
        <translation>{name} no es un archivo.</translation>
    </message>
    <message>
        <source>{name} is not a file. Drop files, not folders.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} no es un archivo. Suelta archivos, no carpetas.</translation>
    </message>
    <message>
        <source>{name} is not supported. Attach text, PDFs, images or audio.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} no es compatible. Adjunta texto, PDF, imágenes o audio.</translation>
    </message>
    <message>
        <source>{name} is not supported. Choose a {endings} file.</source>
        <extracomment>app/gui/viewmodels/speak.py</extracomment>
        <translation>{name} no es compatible. Elige un archivo {endings}.</translation>
    </message>
    <message>
        <source>{name} is not the file that was announced. It was deleted.</source>
        <extracomment>app/updates.py</extracomment>
        <translation>{name} no es el archivo anunciado. Se ha eliminado.</translation>
    </message>
    <message>
        <source>{name} is password-protected. Save a copy without a password.</source>
        <extracomment>app/gui/viewmodels/chat/draft.py</extracomment>
        <translation>{name} está protegido con contraseña. Guarda una copia sin contraseña.</translation>
    </message>
    <message>
        <source>{name} is set</source>
        <extracomment>engine/hub/offline.py</extracomment>
        <translation>{name} está definida</translation>
    </message>
    <message>
        <source>{name} lists no models. Name one by hand.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} no enumera modelos. Indique uno a mano.</translation>
    </message>
    <message>
        <source>{name} refuses the key. Add it again, with the right one.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} rechaza la clave. Añádalo de nuevo con la correcta.</translation>
    </message>
    <message>
        <source>{name} sent nothing for {seconds} seconds.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} no envió nada durante {seconds} segundos.</translation>
    </message>
    <message>
        <source>{name} wants a key. Add it again, with its key.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>{name} pide una clave. Añádalo de nuevo con su clave.</translation>
    </message>
    <message numerus="yes">
        <source>{name} was added, with {n} models.</source>
        <extracomment>app/gui/viewmodels/models/remote.py</extracomment>
        <translation>
            <numerusform>Se añadió {name} con {n} modelo.</numerusform>
            <numerusform>Se añadió {name} con {n} modelos.</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} was not asked, because {why}.</source>
        <extracomment>app/runtime/remote/client.py</extracomment>
        <translation>No se preguntó a {name}: {why}.</translation>
    </message>
    <message>
        <source>{name} writes no text. Give it as the layout, and a vision model as the model.</source>
        <extracomment>engine/pipelines/reading/text_lines.py</extracomment>
        <translation>{name} no escribe texto. Elige un modelo con visión.</translation>
    </message>
    <message>
        <source>{name}: {level}</source>
        <extracomment>app/gui/speak/pane.py</extracomment>
        <translation>{name}: {level}</translation>
    </message>
    <message>
        <source>{now} now, at most {most} in the last two minutes</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>{now} ahora, como máximo {most} en los últimos dos minutos</translation>
    </message>
    <message numerus="yes">
        <source>{n} active requests.</source>
        <extracomment>app/gui/server/pane.py</extracomment>
        <translation>
            <numerusform>{n} solicitud activa.</numerusform>
            <numerusform>{n} solicitudes activas.</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} billion</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} mil millones</translation>
    </message>
    <message numerus="yes">
        <source>{n} chapters</source>
        <extracomment>app/gui/speak/book_panel.py</extracomment>
        <translation>
            <numerusform>{n} capítulo</numerusform>
            <numerusform>{n} capítulos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} conversations imported.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} conversación importada.</numerusform>
            <numerusform>{n} conversaciones importadas.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>{n} documento</numerusform>
            <numerusform>{n} documentos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents could not be read</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>No se pudo leer {n} documento</numerusform>
            <numerusform>No se pudieron leer {n} documentos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} documents saved in {folder}.</source>
        <extracomment>app/gui/read/pane.py</extracomment>
        <translation>
            <numerusform>{n} documento guardado en {folder}.</numerusform>
            <numerusform>{n} documentos guardados en {folder}.</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} downloads per month</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} descargas al mes</translation>
    </message>
    <message numerus="yes">
        <source>{n} files</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} archivo</numerusform>
            <numerusform>{n} archivos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} files read</source>
        <extracomment>app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} archivo leído</numerusform>
            <numerusform>{n} archivos leídos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} libraries</source>
        <extracomment>app/gui/viewmodels/chat/project_form.py</extracomment>
        <translation>
            <numerusform>{n} biblioteca</numerusform>
            <numerusform>{n} bibliotecas</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} million</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{n} millones</translation>
    </message>
    <message numerus="yes">
        <source>{n} not read</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py, app/gui/viewmodels/read_watch.py</extracomment>
        <translation>
            <numerusform>{n} sin leer</numerusform>
            <numerusform>{n} sin leer</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/read.py</extracomment>
        <translation>
            <numerusform>{n} página</numerusform>
            <numerusform>{n} páginas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pages have no text, and no model is here that reads them.</source>
        <extracomment>app/gui/libraries/pane.py</extracomment>
        <translation>
            <numerusform>{n} página no tiene texto y no hay ningún modelo que la lea.</numerusform>
            <numerusform>{n} páginas no tienen texto y no hay ningún modelo que las lea.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} passages left to embed</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>
            <numerusform>Falta {n} pasaje por vectorizar</numerusform>
            <numerusform>Faltan {n} pasajes por vectorizar</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} places replaced</source>
        <extracomment>app/gui/listen/replace_bar.py</extracomment>
        <translation>
            <numerusform>{n} aparición reemplazada</numerusform>
            <numerusform>{n} apariciones reemplazadas</numerusform>
        </translation>
    </message>
    <message>
        <source>{n} requests are waiting already. Try again later.</source>
        <extracomment>engine/engine.py</extracomment>
        <translation>Ya hay {n} solicitudes en espera. Inténtalo más tarde.</translation>
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
            <numerusform>{n} herramienta</numerusform>
            <numerusform>{n} herramientas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} were there already.</source>
        <extracomment>app/gui/viewmodels/transfer.py</extracomment>
        <translation>
            <numerusform>{n} ya estaba.</numerusform>
            <numerusform>{n} ya estaban.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} words</source>
        <extracomment>app/gui/speak/book_panel.py, app/gui/speak/pane.py, app/gui/speak/pronunciation_panel.py</extracomment>
        <translation>
            <numerusform>{n} palabra</numerusform>
            <numerusform>{n} palabras</numerusform>
        </translation>
    </message>
    <message>
        <source>{one} and {other}</source>
        <extracomment>app/gui/chat/talk_bar.py</extracomment>
        <translation>{one} y {other}</translation>
    </message>
    <message>
        <source>{origin} is not a valid origin. Enter one like https://app.example, or * for all.</source>
        <extracomment>app/gui/viewmodels/server.py</extracomment>
        <translation>{origin} no es un origen válido. Introduce uno como https://app.example, o * para todos.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <extracomment>engine/media/documents.py, engine/pipelines/reading/watching.py, engine/pipelines/speaking/pronunciation.py, app/runtime/remote/chat.py</extracomment>
        <translation>No se puede leer {path}: {reason}.</translation>
    </message>
    <message>
        <source>{path} cannot be written: {reason}.</source>
        <extracomment>engine/pipelines/reading/session.py</extracomment>
        <translation>No se puede escribir {path}: {reason}.</translation>
    </message>
    <message>
        <source>{path} could not be written: {reason}.</source>
        <extracomment>engine/media/audiobook_file.py, engine/media/recordings.py, engine/media/sound.py, engine/pipelines/speaking/passage_store.py, engine/pipelines/speaking/spoken_epub.py</extracomment>
        <translation>No se pudo escribir {path}: {reason}.</translation>
    </message>
    <message>
        <source>{path} is a folder.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} es una carpeta.</translation>
    </message>
    <message>
        <source>{path} is larger than the memory that is free.</source>
        <extracomment>engine/media/documents.py</extracomment>
        <translation>{path} es más grande que la memoria libre.</translation>
    </message>
    <message>
        <source>{path} is no text in UTF-8.</source>
        <extracomment>engine/pipelines/speaking/pronunciation.py</extracomment>
        <translation>{path} no es un texto en UTF-8.</translation>
    </message>
    <message>
        <source>{path} is not the index of a library.</source>
        <extracomment>app/runtime/library/store.py</extracomment>
        <translation>{path} no es el índice de una biblioteca.</translation>
    </message>
    <message>
        <source>{program} (not installed)</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} (no instalado)</translation>
    </message>
    <message>
        <source>{program} has its earlier settings again.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} vuelve a tener sus ajustes anteriores.</translation>
    </message>
    <message>
        <source>{program} is disconnected. What you changed in {file} since stays.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} está desconectado. Lo que ha cambiado desde entonces en {file} se conserva.</translation>
    </message>
    <message>
        <source>{program} is not installed: there is no command {command}. Install it first: {how}</source>
        <extracomment>app/agents/programs.py</extracomment>
        <translation>{program} no está instalado: no existe el comando {command}. Instálelo primero: {how}</translation>
    </message>
    <message>
        <source>{program} uses this server now.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} usa ahora este servidor.</translation>
    </message>
    <message>
        <source>{program} uses this server now. Enter the key in its settings, too.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} usa ahora este servidor. Introduzca la clave también en sus ajustes.</translation>
    </message>
    <message>
        <source>{program} uses this server now. Its earlier settings are kept in {file}.</source>
        <extracomment>app/gui/viewmodels/agents.py</extracomment>
        <translation>{program} usa ahora este servidor. Sus ajustes anteriores se conservan en {file}.</translation>
    </message>
    <message>
        <source>{program} was not connected by Grus: there is nothing to take back.</source>
        <extracomment>app/agents/connecting.py</extracomment>
        <translation>Grus no ha conectado {program}: no hay nada que deshacer.</translation>
    </message>
    <message>
        <source>{rate} tokens/s</source>
        <extracomment>app/gui/bars.py, app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{rate} tokens/s</translation>
    </message>
    <message>
        <source>{reason}. Grus stays offline until it is restarted without it.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{reason}. Grus sigue sin conexión hasta que se reinicie sin esa opción.</translation>
    </message>
    <message>
        <source>{repo} cannot be saved{where}: {reason}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} no se puede guardar{where}: {reason}.</translation>
    </message>
    <message>
        <source>{repo} could not be downloaded: {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>No se pudo descargar {repo}: {reason}</translation>
    </message>
    <message>
        <source>{repo} has a file that is larger than this disk or account may hold{where}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} tiene un archivo más grande de lo que permite este disco o cuenta{where}.</translation>
    </message>
    <message>
        <source>{repo} has no revision {revision}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} no tiene la revisión {revision}.</translation>
    </message>
    <message>
        <source>{repo} holds no model files.</source>
        <extracomment>engine/hub/download.py, engine/hub/searching.py</extracomment>
        <translation>{repo} no contiene archivos de modelo.</translation>
    </message>
    <message>
        <source>{repo} holds no tokenizer, and its name, which does not end in -GGUF, tells no other repository. Put a tokenizer.json beside the file.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} no contiene un tokenizador y su nombre, que no termina en -GGUF, no indica otro repositorio. Pon un tokenizer.json junto al archivo.</translation>
    </message>
    <message>
        <source>{repo} is gated, and your token does not open it. Accept its terms on {site}/{repo} with the same account, and wait until its makers have let you in.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>El acceso a {repo} está restringido y tu token no lo abre. Acepta sus condiciones en {site}/{repo} con la misma cuenta y espera a que sus autores te den acceso.</translation>
    </message>
    <message>
        <source>{repo} is gated. Accept its terms on {site}/{repo}, then {advice}.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>El acceso a {repo} está restringido. Acepta sus condiciones en {site}/{repo} y después {advice}.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and Hugging Face cannot be reached. Check the network.</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} no está en este equipo y no se puede acceder a Hugging Face. Comprueba la red.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine and {why}, so it cannot be downloaded.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} no está en este equipo y no se puede descargar: {why}.</translation>
    </message>
    <message>
        <source>{repo} is not on this machine, and {reason}</source>
        <extracomment>engine/hub/client.py</extracomment>
        <translation>{repo} no está en este equipo. {reason}</translation>
    </message>
    <message>
        <source>{repo} is not the id of a repository.</source>
        <extracomment>engine/hub/client.py, engine/hub/searching.py</extracomment>
        <translation>{repo} no es el identificador de un repositorio.</translation>
    </message>
    <message>
        <source>{repo} needs {needed}, but {there} has only {free} left.</source>
        <extracomment>engine/hub/download.py</extracomment>
        <translation>{repo} necesita {needed}, pero en {there} solo quedan {free}.</translation>
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
        <translation>{size} kB</translation>
    </message>
    <message>
        <source>{size} MB</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{size} MB</translation>
    </message>
    <message>
        <source>{size} for models, {whole} for Grus in all</source>
        <extracomment>app/gui/models/pane.py</extracomment>
        <translation>{size} para modelos, {whole} para Grus en total</translation>
    </message>
    <message>
        <source>{size} in memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} en memoria</translation>
    </message>
    <message>
        <source>{size} of experts have no room in memory and stay in the file. Replies are as slow as the disk.</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} de expertos no caben en la memoria y se quedan en el archivo. Las respuestas son tan lentas como el disco.</translation>
    </message>
    <message>
        <source>{size} of memory</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{size} de memoria</translation>
    </message>
    <message>
        <source>{speed} here</source>
        <extracomment>app/gui/viewmodels/models/card.py, app/gui/viewmodels/models/offer.py</extracomment>
        <translation>{speed} en este equipo</translation>
    </message>
    <message>
        <source>{time} h</source>
        <extracomment>app/gui/texts.py</extracomment>
        <translation>{time} h</translation>
    </message>
    <message>
        <source>{time} left</source>
        <extracomment>app/gui/viewmodels/libraries.py, app/gui/viewmodels/listen.py, app/gui/viewmodels/read.py, app/gui/viewmodels/speak.py</extracomment>
        <translation>quedan {time}</translation>
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
        <translation>{time} en total</translation>
    </message>
    <message>
        <source>{title} (copy)</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py</extracomment>
        <translation>{title} (copia)</translation>
    </message>
    <message>
        <source>{title} has not been read yet.</source>
        <extracomment>app/gui/viewmodels/read.py</extracomment>
        <translation>{title} aún no se ha leído.</translation>
    </message>
    <message>
        <source>{title} must be between {low} and {high}.</source>
        <extracomment>app/gui/chat/panel.py</extracomment>
        <translation>{title} debe estar entre {low} y {high}.</translation>
    </message>
    <message>
        <source>{tokens} tokens do not fit into the memory for sequences ({limit} MiB). Shorten the prompt, raise the memory limit, or quantize the cache.</source>
        <extracomment>engine/executor.py</extracomment>
        <translation>{tokens} tokens no caben en la memoria para secuencias ({limit} MiB). Acorta el prompt, aumenta el límite de memoria o cuantiza la caché.</translation>
    </message>
    <message>
        <source>{tool} failed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} falló.</translation>
    </message>
    <message>
        <source>{tool} is asked over the network: {question}</source>
        <extracomment>app/window_reply.py</extracomment>
        <translation>Se consulta {tool} por la red: {question}</translation>
    </message>
    <message>
        <source>{tool} is running.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} se está ejecutando.</translation>
    </message>
    <message>
        <source>{tool} was not allowed.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} no se permitió.</translation>
    </message>
    <message>
        <source>{tool} was stopped.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>{tool} se detuvo.</translation>
    </message>
    <message>
        <source>{tool} was used.</source>
        <extracomment>app/gui/viewmodels/chat/message_views.py</extracomment>
        <translation>Se usó {tool}.</translation>
    </message>
    <message>
        <source>{variable} is set and takes precedence over a token stored here.</source>
        <extracomment>app/gui/viewmodels/settings.py</extracomment>
        <translation>{variable} está definida y tiene prioridad sobre un token guardado aquí.</translation>
    </message>
    <message>
        <source>{weights} weights, {talk} KV cache</source>
        <extracomment>app/gui/viewmodels/models/card.py</extracomment>
        <translation>{weights} de pesos, {talk} de caché KV</translation>
    </message>
    <message>
        <source>{words} is too much. {how}</source>
        <extracomment>engine/pipelines/speaking/chatterbox.py</extracomment>
        <translation>{words} es demasiado. {how}</translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <extracomment>app/gui/viewmodels/chat/conversation_list.py, app/gui/viewmodels/results.py</extracomment>
        <translation>«{title}» se ha eliminado.</translation>
    </message>
    <message>
        <source>“{title}” was removed from the list. The file was not deleted.</source>
        <extracomment>app/gui/viewmodels/results.py</extracomment>
        <translation>«{title}» se ha quitado de la lista. El archivo no se ha eliminado.</translation>
    </message>
    <message>
        <source>“{title}” was removed. The folder and its documents were not changed.</source>
        <extracomment>app/gui/viewmodels/libraries.py</extracomment>
        <translation>Se quitó «{title}». La carpeta y sus documentos no se modificaron.</translation>
    </message>
</context>
</TS>
