// condition_writer.cpp: writes a set of symbols, as isl gives it, as a Condition.
#include "schedule/isl/space.h"

namespace frit {
namespace {

constexpr int most_alternatives = 8;

std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

class ConditionWriter {
 public:
  ConditionWriter(const Nest& nest, const Symbols& symbols) : nest_(nest), symbols_(symbols) {}

  std::optional<Condition> write(isl::Set set) {
    // What is no argument is unknown: some value of it is enough.
    for (std::size_t k = symbols_.values().size(); k-- > 0;)
      if (nest_.is_symbolic(symbols_.values()[k]))
        numbers_.insert(numbers_.begin(), nest_.definitions[at(symbols_.values()[k])]->number);
      else
        set = made(isl_set_project_out(set.take(), isl_dim_param, static_cast<unsigned>(k), 1));
    set = made(isl_set_coalesce(set.take()));
    set = made(isl_set_compute_divs(set.take()));
    set = made(isl_set_remove_redundancies(set.take()));
    if (isl_set_n_basic_set(set.get()) > static_cast<int>(most_alternatives)) return std::nullopt;
    if (isl_set_foreach_basic_set(
            set.get(),
            [](isl_basic_set* bset, void* self) {
              return static_cast<ConditionWriter*>(self)->alternative(isl::BasicSet(bset));
            },
            this) != isl_stat_ok)
      return std::nullopt;
    return Condition(nest_.routine.body.integers, alternatives_);
  }

 private:
  isl_stat alternative(isl::BasicSet set) {
    alternatives_.emplace_back();
    const int quotients = isl_basic_set_dim(set.get(), isl_dim_div);
    if (quotients < 0) return isl_stat_error;
    for (int k = 0; k < quotients; ++k) {
      isl::Aff quotient(isl_basic_set_get_div(set.get(), k));
      if (!quotient || !add_quotient(quotient, k)) return isl_stat_error;
    }
    return isl_basic_set_foreach_constraint(
        set.get(),
        [](isl_constraint* constraint, void* self) {
          return static_cast<ConditionWriter*>(self)->row(isl::Owned<isl_constraint>(constraint));
        },
        this);
  }

  // The quotient's number may name earlier ones only.
  bool add_quotient(const isl::Aff& quotient, int number) {
    isl::Val divisor(isl_aff_get_denominator_val(quotient.get()));
    const auto d = number_of(divisor);
    if (!d || *d <= 0) return false;
    const auto scaled = [&](isl::Val v) {
      return number_of(isl::Val(isl_val_mul(v.take(), divisor.copy())));
    };
    Condition::Quotient made{.row = {}, .divisor = *d};
    const auto constant = scaled(isl::Val(isl_aff_get_constant_val(quotient.get())));
    if (!constant) return false;
    made.row.constant = *constant;
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const auto c = scaled(isl::Val(
          isl_aff_get_coefficient_val(quotient.get(), isl_dim_param, static_cast<int>(k))));
      if (!c) return false;
      if (*c) made.row.terms.emplace_back(numbers_[k], *c);
    }
    const int all = isl_aff_dim(quotient.get(), isl_dim_div);
    for (int k = 0; k < all; ++k) {
      const auto c = scaled(isl::Val(isl_aff_get_coefficient_val(quotient.get(), isl_dim_div, k)));
      if (!c || (*c && k >= number)) return false;
      if (*c) made.row.terms.emplace_back(nest_.routine.body.integers + k, *c);
    }
    alternatives_.back().quotients.push_back(std::move(made));
    return true;
  }

  isl_stat row(const isl::Owned<isl_constraint>& constraint) {
    Condition::Row made;
    const auto constant = number_of(isl::Val(isl_constraint_get_constant_val(constraint.get())));
    if (!constant) return isl_stat_error;
    made.constant = *constant;
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const auto c = number_of(isl::Val(isl_constraint_get_coefficient_val(
          constraint.get(), isl_dim_param, static_cast<int>(k))));
      if (!c) return isl_stat_error;
      if (*c) made.terms.emplace_back(numbers_[k], *c);
    }
    const int quotients = isl_constraint_dim(constraint.get(), isl_dim_div);
    for (int k = 0; k < quotients; ++k) {
      const auto c =
          number_of(isl::Val(isl_constraint_get_coefficient_val(constraint.get(), isl_dim_div, k)));
      if (!c) return isl_stat_error;
      if (*c) made.terms.emplace_back(nest_.routine.body.integers + k, *c);
    }
    auto& rows = is_true(isl_constraint_is_equality(constraint.get()))
                     ? alternatives_.back().zero
                     : alternatives_.back().not_negative;
    rows.push_back(std::move(made));
    return isl_stat_ok;
  }

  static std::optional<std::int64_t> number_of(const isl::Val& v) {
    if (!v || isl_val_is_int(v.get()) != isl_bool_true ||
        isl_val_n_abs_num_chunks(v.get(), sizeof(std::int32_t)) > 1)
      return std::nullopt;
    return isl_val_get_num_si(v.get());
  }

  const Nest& nest_;
  const Symbols& symbols_;
  std::vector<std::int32_t> numbers_;  // of the integer arguments that are left as parameters
  std::vector<Condition::Alternative> alternatives_;
};

}  // namespace

std::optional<Condition> condition_of(const Nest& nest, const Symbols& symbols, isl::Set sizes) {
  return ConditionWriter(nest, symbols).write(std::move(sizes));
}

}  // namespace frit
