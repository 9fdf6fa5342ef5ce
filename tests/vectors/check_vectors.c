/* Compares core/ on the host with the known answers of the files named. */
#include "check_vectors.h"

static int wb_cases_evaluate(wb_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) wb_case_evaluate(&cases[i]);
  return 0;
}

int main(int argc, char **argv) {
#ifdef __cplusplus
  return wb_check_main("C++", argc, argv);
#else
  return wb_check_main("C", argc, argv);
#endif
}
