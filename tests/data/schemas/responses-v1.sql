BEGIN TRANSACTION;
CREATE TABLE held (item TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "held" VALUES('item-1',1);
CREATE TABLE kept (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, response TEXT NOT NULL, items TEXT NOT NULL, made REAL NOT NULL, nbytes INTEGER NOT NULL);
INSERT INTO "kept" VALUES(1,'resp-1','{"id": "resp-1", "output": "South."}','[{"id": "item-1", "type": "message", "role": "user", "content": "Where do cranes go?"}]',1.7958919239963521958e+09,129);
CREATE INDEX held_number ON held (number);
CREATE TRIGGER let_go AFTER DELETE ON kept BEGIN DELETE FROM held WHERE number = old.number; END;
COMMIT;
PRAGMA user_version = 1;
