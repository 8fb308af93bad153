// pch_tests.h: the headers that most unit tests use, compiled once.
#pragma once

#include "pch.h"

#include <gtest/gtest.h>
