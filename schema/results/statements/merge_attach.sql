ATTACH DATABASE :path AS input;
