"""The window. Views (this package and its folders) are widgets; `viewmodels` hold behaviour and know no Qt at all."""
