# Pictures with a palette of 16 colours are a quarter as large. Sourced by the pages with pictures; without the program
# pngquant it changes nothing.
if (nzchar(Sys.which("pngquant"))) {
  knitr::knit_hooks$set(pngquant = knitr::hook_pngquant)
  knitr::opts_chunk$set(pngquant = "--speed=1 --nofs --strip 16")
}
