"""Libraries: folders of documents that can be asked, indexed on this machine in one SQLite file each."""
