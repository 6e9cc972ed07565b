# One library per folder, with only the links it is allowed (LAYOUT: direction of dependencies).
#   weir_library(NAME FOLDER link...)   sources: every .cc of the folder
function(weir_library name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC weir_compile ${ARGN} PRIVATE weir_no_exceptions)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE weir_compile ${ARGN})
  endif()
endfunction()

# One test executable per folder: tests/FOLDER/*_test.cc.
function(weir_test name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*_test.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE weir_compile GTest::gmock GTest::gtest_main ${ARGN})
  # Assertions of GoogleTest take most of a full build's time to optimise, and nothing is gained.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  target_compile_definitions(${name} PRIVATE WEIR_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()
