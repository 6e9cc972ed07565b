# Warnings, sanitizers, ccache: what every target is compiled with.
find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WEIR_CCACHE})
endif()

add_library(weir_compile INTERFACE)
target_include_directories(weir_compile INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(weir_compile INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wswitch-enum -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  -fno-omit-frame-pointer)
target_compile_definitions(weir_compile INTERFACE _FILE_OFFSET_BITS=64
  $<$<BOOL:${WEIR_PLANTED_BUGS}>:WEIR_PLANTED_BUGS=1>)
if(WEIR_SANITIZE)
  string(REPLACE "," ";" weir_sanitizers "${WEIR_SANITIZE}")
  foreach(sanitizer IN LISTS weir_sanitizers)
    target_compile_options(weir_compile INTERFACE -fsanitize=${sanitizer})
    target_link_options(weir_compile INTERFACE -fsanitize=${sanitizer})
  endforeach()
  target_compile_options(weir_compile INTERFACE -fno-sanitize-recover=all)
  target_compile_definitions(weir_compile INTERFACE WEIR_SANITIZED=1)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(weir_compile INTERFACE WEIR_VERIFY=1)
endif()

# io and engine: a completion never throws across the ring's loop (STYLE 2.4).
add_library(weir_no_exceptions INTERFACE)
target_compile_options(weir_no_exceptions INTERFACE -fno-exceptions)
