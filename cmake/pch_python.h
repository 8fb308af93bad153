// pch_python.h: nanobind and the standard headers, compiled once for the bindings.
#pragma once

#include "pch.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
