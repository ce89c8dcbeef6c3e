BEGIN TRANSACTION;
CREATE TABLE conversations (
        id INTEGER PRIMARY KEY,
        title TEXT NOT NULL DEFAULT '',
        named INTEGER NOT NULL DEFAULT 0,
        folder INTEGER REFERENCES folders(id) ON DELETE SET NULL,
        pinned INTEGER NOT NULL DEFAULT 0,
        deleted REAL,
        leaf INTEGER,
        model TEXT NOT NULL DEFAULT '',
        system TEXT NOT NULL DEFAULT '',
        sampling TEXT NOT NULL DEFAULT '{}',
        created REAL NOT NULL,
        changed REAL NOT NULL
    , libraries TEXT NOT NULL DEFAULT '[]', tools TEXT NOT NULL DEFAULT '[]');
INSERT INTO "conversations" VALUES(1,'Cranes',0,1,0,NULL,2,'guide','','{}',1000000000.0,1000000000.0,'[]','[]');
INSERT INTO "conversations" VALUES(2,'鶴',0,NULL,0,NULL,NULL,'','','{}',2000000000.0,2000000000.0,'[]','[]');
CREATE TABLE drafts (
        place TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        attachments TEXT NOT NULL DEFAULT '[]',
        changed REAL NOT NULL
    );
INSERT INTO "drafts" VALUES('2','half a question','[]',1000000000.0);
CREATE TABLE facts (name TEXT PRIMARY KEY, value REAL NOT NULL);
INSERT INTO "facts" VALUES('vacuum',1.0);
CREATE TABLE folders (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        place REAL NOT NULL DEFAULT 0
    , system TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '', attachments TEXT NOT NULL DEFAULT '[]', libraries TEXT NOT NULL DEFAULT '[]', tools TEXT NOT NULL DEFAULT '[]', deleted REAL);
INSERT INTO "folders" VALUES(1,'Ordner "Kraniche"',1.5,'','','[]','[]','[]',NULL);
CREATE TABLE memories (
        id INTEGER PRIMARY KEY,
        text TEXT NOT NULL,
        conversation INTEGER REFERENCES conversations(id) ON DELETE SET NULL,
        deleted REAL,
        created REAL NOT NULL
    );
CREATE TABLE messages (
        id INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
        parent INTEGER REFERENCES messages(id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        text TEXT NOT NULL DEFAULT '',
        reasoning TEXT NOT NULL DEFAULT '',
        calls TEXT NOT NULL DEFAULT '[]',
        attachments TEXT NOT NULL DEFAULT '[]',
        figures TEXT NOT NULL DEFAULT '{}',
        model TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'done',
        error TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL
    , deleted REAL, passages TEXT NOT NULL DEFAULT '[]');
INSERT INTO "messages" VALUES(1,1,NULL,'user','Where do they go?','','[]','[]','{}','','done','',1000000000.0,NULL,'[]');
INSERT INTO "messages" VALUES(2,1,1,'assistant','South.','','[]','[]','{}','','done','',1000000000.0,NULL,'[]');
CREATE TABLE presets (
        name TEXT PRIMARY KEY,
        sampling TEXT NOT NULL,
        system TEXT
    );
INSERT INTO "presets" VALUES('calm','{"temperature": 0.2}','Be brief.');
CREATE TABLE results (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        source TEXT NOT NULL DEFAULT '',
        body TEXT NOT NULL,
        file TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'done',
        deleted REAL,
        created REAL NOT NULL,
        changed REAL NOT NULL
    );
INSERT INTO "results" VALUES(1,'read','page.png','','{}','','done',NULL,1000000000.0,1000000000.0);
CREATE TABLE voices (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        sample TEXT NOT NULL DEFAULT '',
        deleted REAL,
        created REAL NOT NULL
    );
INSERT INTO "voices" VALUES(1,'mine','{}','',NULL,1000000000.0);
CREATE INDEX messages_of_conversation ON messages(conversation);
CREATE INDEX messages_of_parent ON messages(parent);
CREATE INDEX results_of_kind ON results(kind, created);
COMMIT;
PRAGMA user_version = 6;
