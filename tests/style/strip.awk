# strip.awk - print FILE:LINE:CODE of C sources without comments and without the text of string
# literals; with -v strings=1, the text of the string literals alone, one per line.
FNR == 1 { in_comment = 0 }
{
  code = ""
  text = ""
  in_string = ""
  n = length($0)
  for (i = 1; i <= n; i++) {
    c = substr($0, i, 1)
    pair = substr($0, i, 2)
    if (in_comment) {
      if (pair == "*/") {
        in_comment = 0
        i++
      }
    } else if (in_string != "") {
      if (c == "\\") {
        text = text pair
        i++
      } else if (c == in_string) {
        if (strings && in_string == "\"")
          print FILENAME ":" FNR ":" text
        in_string = ""
        code = code c
      } else {
        text = text c
      }
    } else if (pair == "/*") {
      in_comment = 1
      code = code " "
      i++
    } else if (pair == "//") {
      break
    } else {
      if (c == "\"" || c == "'") {
        # A digit separator (1'000) opens no literal.
        if (c == "'" && code ~ /[0-9]$/ && substr($0, i + 1, 1) ~ /[0-9]/) {
          code = code c
          continue
        }
        in_string = c
        text = ""
      }
      code = code c
    }
  }
  if (!strings && code ~ /[^ ]/)
    print FILENAME ":" FNR ":" code
}
