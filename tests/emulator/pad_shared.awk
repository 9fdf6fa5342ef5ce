# Puts 64 bytes behind every thread-local variable that a compiler's assembly
# reserves: the gaps that src/shared.cpp guards, under symbols of their own that tell
# it where they are. Shared variables have no initial value, so they are all in
# sections called .tbss*, each a label and then data directives.
function pad() {
  if (!filled) return
  filled = 0
  count++
  printf "\t.type\twb_emulator_gap_%d, @object\n\t.size\twb_emulator_gap_%d, 64\n", count, count
  printf "wb_emulator_gap_%d:\n\t.zero\t64\n", count
}
{
  data = $1 ~ /^\.(zero|skip|byte|short|value|2byte|long|4byte|quad|8byte)$/
  if (!data) pad()
  if ($1 == ".section") bss = $2 ~ /^"?\.tbss/
  if ($1 == ".text" || $1 == ".data" || $1 == ".bss") bss = 0
  if (bss && data) filled = 1
  print
}
END { pad() }
