// kernel_bytes.h: a kernel's definition <-> bytes, which the next process reads instead of a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "front/kernel_definition.h"

namespace frit {

// All but what messages say (file, names, lines). Of a kernel without reductions.
std::string definition_as_bytes(const KernelDefinition& definition);
// None: these bytes are no definition.
std::optional<KernelDefinition> definition_from(std::string_view bytes);

}  // namespace frit
