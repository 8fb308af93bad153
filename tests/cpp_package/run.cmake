# run.cmake: installs the build into an empty prefix, then builds and runs a program against it.
#
# In: BUILD (the build folder), SOURCE (the program), WORK (scratch folder), GENERATOR, COMPILER, VERSION.
function(step)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
# Moved after the install: a package that holds absolute paths of its build fails here.
file(RENAME ${WORK}/prefix ${WORK}/moved)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR}
     -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${WORK}/moved
     -D REQUIRED_VERSION=${VERSION})
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/consumer)

# The example is a program outside the tree, too; it compares its result with plain loops.
step(${CMAKE_COMMAND} -S ${SOURCE}/../../examples/cpp -B ${WORK}/example -G ${GENERATOR}
     -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${WORK}/moved)
step(${CMAKE_COMMAND} --build ${WORK}/example)
step(${WORK}/example/heat 150 20)
