// core/ is C99 that is also C++: the same driver, the other language.
#include "check_vectors.c"
