# One library per folder, with only the links it is allowed (LAYOUT: direction of dependencies).
#   weir_library(NAME FOLDER link...)   sources: every .cc of the folder
function(weir_library name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  if(sources)
    add_library(${name} STATIC ${sources})
    set_target_properties(${name} PROPERTIES UNITY_BUILD ${WEIR_UNITY_LIBRARIES})
    target_link_libraries(${name} PUBLIC weir_compile ${ARGN} PRIVATE weir_no_exceptions)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE weir_compile ${ARGN})
  endif()
endfunction()

# Optimising the assertions of GoogleTest would take most of a full build, and gain little.
function(weir_test_options target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  target_compile_definitions(${target} PRIVATE WEIR_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WEIR_UNITY_TESTS})
endfunction()

# One test executable per folder: tests/FOLDER/*_test.cc. With SHARDS n its tests are n tests of
# ctest, which may run side by side.
#   weir_test(NAME FOLDER [SHARDS n] link...)
function(weir_test name folder)
  cmake_parse_arguments(test "" SHARDS "" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*_test.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE weir_compile GTest::gmock GTest::gtest_main
    ${test_UNPARSED_ARGUMENTS})
  weir_test_options(${name})
  weir_add_shards(${name} "${test_SHARDS}" COMMAND ${name})
endfunction()

#   weir_add_shards(NAME COUNT add_test-argument...)   NAME when there is one, else NAME_1 to NAME_COUNT
function(weir_add_shards name count)
  if(NOT count)
    add_test(NAME ${name} ${ARGN})
    set_tests_properties(${name} PROPERTIES TIMEOUT 600)
    return()
  endif()
  foreach(number RANGE 1 ${count})
    math(EXPR index "${number} - 1")
    add_test(NAME ${name}_${number} ${ARGN})
    set_tests_properties(${name}_${number} PROPERTIES TIMEOUT 600
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${count};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
