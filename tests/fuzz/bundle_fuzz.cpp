// Any bytes as a bundle: an archive, or the text of each of its tables. Read to the end, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/archive_module/unpack.h"
#include "calibrate/bundle/bundle.h"
#include "calibrate/bundle/load.h"
#include "sim/input_error.h"

namespace {

using stepcast::calibrate::BundleFile;

/// The rest of a bundle in which `name` is what is tried.
std::vector<BundleFile> bundle_with(const std::string& name, const std::string& text) {
  constexpr const char* kMachine =
      "# stepcast measurement 1\n# run r1\nkey,value\ngpu_name,NVIDIA H200\ngpu_id,0\ngpus,2\ncompute_capability,9.0\n"
      "sms,132\nmemory_bytes,1\nl2_bytes,1\ndriver,1\ncuda,1\ncublaslt,1\nnccl,1\nclock_sm_mhz_max,1\n"
      "clock_mem_mhz_max,1\npower_limit_w,1\necc,on\nhost_cpu,x\nhost_cores,1\ndate,d\ncommand,c\ntimer,graph\n# end "
      "20\n";
  constexpr const char* kKernels =
      "# stepcast measurement 1\n# run "
      "r1\nsuite,kernel,by,dtype,layout,batch,m,n,k,bytes,flops,l2,repeats,median_s,p10_s,"
      "p90_s,clock_mhz,power_w,temp_c,throttled,check,max_error\n# end 0\n";
  std::vector<BundleFile> files{{name, text}};
  if (name != "machine.csv") files.push_back({"machine.csv", kMachine});
  if (name != "kernels.csv") files.push_back({"kernels.csv", kKernels});
  return files;
}

template <class Try>
void survive(Try attempt) {
  try {
    attempt();
  } catch (const stepcast::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast::calibrate;
  const std::string text(reinterpret_cast<const char*>(data), size);
  survive([&] { parse_bundle(unpack_bundle(text, "fuzz.tar.gz", stepcast_unpack), "fuzz.tar.gz"); });
  for (const char* name : {"machine.csv", "kernels.csv", "copies.csv", "interference.csv", "collectives.csv",
                           "host.csv", "sustained.csv", "clocks.csv", "refused.csv"})
    survive([&] { parse_bundle(bundle_with(name, text), "fuzz"); });
  return 0;
}
