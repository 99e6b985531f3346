/* All tests of the C++ front in one unit, since most of the time that they take
 * goes into compiling its headers. Takes the folder of traces and a plugin. */
#include "code_cases.hpp"
#include "compare_cases.hpp"
#include "front_cases.hpp"
#include "ranks_cases.hpp"
#ifndef KMB_NO_EXCEPTIONS
#include "throws_cases.hpp"
#endif

int main(int count, char **arguments) {
  REQUIRE(count == 3);
  front::all(arguments[1]);
  code::all(arguments[2]);
  compare::all();
  ranks::all();
#ifndef KMB_NO_EXCEPTIONS
  throws::all();
#endif
}
