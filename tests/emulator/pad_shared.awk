# Puts 64 bytes behind every thread-local variable that a compiler's assembly
# reserves: the guard that src/shared.cpp speaks of. Shared variables have no
# initial value, so they are all in sections called .tbss*, each as one `.zero`.
$1 == ".section" { bss = ($2 ~ /^"?\.tbss/) }
$1 == ".text" || $1 == ".data" || $1 == ".bss" { bss = 0 }
{ print }
bss && $1 == ".zero" { print "\t.zero\t64" }
