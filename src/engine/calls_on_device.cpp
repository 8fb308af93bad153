// calls_on_device.cpp: steps that are library calls, on a device: products, and what is a kernel.
#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include "engine/engine.h"
#include "engine/pool.h"
#include "engine/residence.h"
#include "engine/running.h"
#include "engine/stopwatch.h"
#include "ir/call_kernel.h"
#include "ir/matrix_products.h"

namespace frit {
namespace {

// What there is to do, and by how many threads.
struct Work {
  double cost = 0, least = 0;  // ns on one core; of arrays that aren't there
  std::int64_t threads = 1;
};

Work work_of(const MatrixProducts& products) {
  constexpr double multiplications = 20, least = 1e8 / multiplications;  // of a core, each ns
  constexpr double of_a_thread = 256;  // multiplications: long products are shared, too
  const double all = static_cast<double>(products.rows) * static_cast<double>(products.inner) *
                     static_cast<double>(products.columns) *
                     static_cast<double>(products.starts.size());
  return {all / multiplications, least, static_cast<std::int64_t>(all / of_a_thread)};
}

}  // namespace

double Engine::work_for_device(const Node& node) {
  MatrixProducts products;
  if (!node.site->call->describe(products)) return 0;
  const Work work = work_of(products);
  if (work.cost < work.least && least_device_cost() > 0) return 0;
  return product_rate_.time_of(work.cost, work.cost / ThreadPool::get().threads());
}

bool Engine::run_product_on_device(const Node& node, const MatrixProducts& products,
                                   Running& running) {
  bool is_finite = true;
  const CallSite& site = *node.site;
  const auto address_of = [&](const Access& a) { return address_on_device(a, running); };
  Device::Product where{.left = address_of(site.inputs[0]),
                        .right = address_of(site.inputs[1]),
                        .out = address_of(site.outputs[0]),
                        .is_finite = node.float_checks != 0 ? &is_finite : nullptr,
                        .on_host = [&](auto pointers) { site.call->run(pointers); }};
  // Which errors led to what is not finite the host has to say.
  return residence_->device().multiply(products, where) && is_finite;
}

bool Engine::run_kernel_on_device(const Node& node, const CallKernel& call, Running& running) {
  KernelCode& code = *code_of(call.kernel);
  if (code.is_for_host || !is_ready_on_device(code)) return false;
  std::vector<DeviceAddress> addresses;
  for (const auto& accesses : {node.site->outputs, node.site->inputs})
    for (const Access& a : accesses) addresses.push_back(address_on_device(a, running));
  if (!code.on_device->fits(addresses, call.integers)) return false;
  residence_->device().run(*code.on_device,
                           {.operands = addresses,
                            .integers = call.integers,
                            .scalars = {},
                            .extent = call.extent,
                            .elements = call.extent,
                            .scratch_bytes = 0},
                           Told::Never);
  return true;
}

DeviceAddress Engine::address_on_device(const Access& a, const Running& running) {
  return residence_->bring(*a.base, !running.undefined[a.base->slot]) +
         static_cast<DeviceAddress>(a.offset);
}

// Where its operands are there or it takes long. False: the host has to do it.
bool Engine::run_call_on_device(const Step& step, Running& running) {
  const Node& node = running.nodes[step.node];
  const CallSite& site = *node.site;
  MatrixProducts products;
  CallKernel kernel;
  Work work;
  const bool is_product = site.call->describe(products);
  if (is_product)
    work = work_of(products);
  else if (site.call->describe(kernel))
    work = {kernel.cost, settings.device_cost, kernel.extent};
  else
    return false;
  const auto is_there = [&](const Access& a) { return residence_->is_newest(*a.base); };
  if (std::ranges::none_of(site.inputs, is_there) && work.cost < work.least &&
      least_device_cost() > 0)
    return false;
  const Device::Costs costs = residence_->device().costs();
  double avoided = 0, brought = 0;
  for (const Access& a : site.inputs) {
    const auto bytes = static_cast<double>(a.base->bytes);
    if (is_there(a)) avoided += costs.download_byte * bytes;
    if (!a.base->is_on_device) brought += costs.upload_byte * bytes;
  }
  const HostRate& rate = is_product ? product_rate_ : call_rate_;
  const double saved = rate.time_of(work.cost, work.cost / ThreadPool::get().threads()) -
                       costs.time_of(work.cost, work.threads);
  DeviceAccount& account = residence_->account();
  if (device_pays() && !account.pays(saved, brought, avoided)) {
    account.stayed(saved);
    return false;
  }
  residence_->begin_launch();
  try {
    if (is_product ? !run_product_on_device(node, products, running)
                   : !run_kernel_on_device(node, kernel, running))
      return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++statistics.device_launches;
  for (const Access& out : site.outputs) {
    residence_->note_written(*out.base);
    running.undefined[out.base->slot] = false;
  }
  account.went(saved, brought);
  return true;
}

void Engine::run_call_on_host(const Step& step, Running& running) {
  const Node& node = running.nodes[step.node];
  const Stopwatch watch(measures_host());
  run_call(node);
  if (!measures_host()) return;
  MatrixProducts products;
  CallKernel kernel;
  if (node.site->call->describe(products))
    product_rate_.note(watch.nanoseconds(), work_of(products).cost);
  else if (node.site->call->describe(kernel))
    call_rate_.note(watch.nanoseconds(), kernel.cost);
}

}  // namespace frit
