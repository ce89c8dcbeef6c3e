"""The window. Views (this package and its folders) are widgets; `viewmodels` hold the behaviour, without Qt."""
