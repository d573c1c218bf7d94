#pragma once

#include <string>
#include <vector>

#include "calibrate/bundle/bundle.h"

namespace stepcast::calibrate {

/// A table as the measuring program writes it.
inline std::string measured_text(const std::string& header, const std::vector<std::string>& rows,
                                 const std::string& run = "r1") {
  std::string text = "# stepcast measurement 1\n# run " + run + "\n# by hand\n" + header + "\n";
  for (const std::string& row : rows) text += row + "\n";
  return text + "# end " + std::to_string(rows.size()) + "\n";
}

inline constexpr const char* kKernelHeader =
    "suite,kernel,by,dtype,layout,batch,m,n,k,bytes,flops,l2,repeats,median_s,p10_s,p90_s,clock_mhz,power_w,temp_c,"
    "throttled,check,max_error";
inline constexpr const char* kCopyHeader = "kind,memory,from,to,at_once,bytes,repeats,median_s,p10_s,p90_s";
inline constexpr const char* kInterferenceHeader = "slowed,beside,gpu,bytes,alone_s,together_s,repeats";
inline constexpr const char* kHostHeader = "what,by,count,repeats,median_s,p10_s,p90_s";
inline constexpr const char* kSustainedHeader =
    "work,dtype,seconds,burst_s,windows,median_s,p10_s,p90_s,clock_mhz,power_w,temp_c,capped,throttled";
inline constexpr const char* kCollectiveHeader =
    "collective,algorithm,protocol,ranks,nodes,gpus,bytes,redop,in_place,repeats,median_s,p10_s,p90_s,wrong";

inline std::vector<std::string> machine_rows(int gpus = 2) {
  return {"gpu_name,NVIDIA H200",
          "gpu_id,0123456789abcdef",
          "gpus," + std::to_string(gpus),
          "compute_capability,9.0",
          "sms,132",
          "memory_bytes,150110011392",
          "l2_bytes,62914560",
          "driver,550.54.15",
          "cuda,12.4",
          "cublaslt,12.4.5",
          "nccl,2.21.5",
          "clock_sm_mhz_max,1980",
          "clock_mem_mhz_max,3201",
          "power_limit_w,700",
          "ecc,on",
          "host_cpu,\"Intel(R) Xeon(R) Platinum 8480C, 2 sockets\"",
          "host_cores,112",
          "date,2026-11-21T10:00:00Z",
          "command,stepcast-measure --out b, as written",
          "timer,graph"};
}

/// One row of each kind, all as they should be.
inline std::vector<BundleFile> small_bundle() {
  return {
      {"machine.csv", measured_text("key,value", machine_rows())},
      {"kernels.csv",
       measured_text(
           kKernelHeader,
           {"launch,graph,-,-,-,,,,,,,-,1000,1.200000e-06,1.100000e-06,1.300000e-06,1980,120,40,0,-,",
            "gemm,matmul,cublaslt,bf16,TN,1,4096,4096,4096,100663296,1.374390e+11,cold,200,2.000000e-04,1.990000e-04,"
            "2.020000e-04,1755,690,61,0,passed,1.2e-03"})},
      {"copies.csv",
       measured_text(kCopyHeader, {"h2d,pinned,host,0,1,1048576,100,3.000000e-05,2.900000e-05,3.100000e-05",
                                   "p2p,device,0,1,1,1048576,100,9.000000e-06,9.000000e-06,1.000000e-05"})},
      {"interference.csv",
       measured_text(kInterferenceHeader, {"gemm,all_reduce,0,67108864,2.000000e-04,2.200000e-04,50"})},
      {"collectives.csv",
       measured_text(kCollectiveHeader,
                     {"all_reduce,ring,LL128,2,1,0 1,1048576,sum,0,100,2.000000e-05,1.900000e-05,2.200000e-05,0"})},
      {"pytorch_kernels.csv",
       measured_text(kKernelHeader,
                     {"attention,forward,cudnn,bf16,causal,64,2048,2048,128,134217728,6.8735e+10,cold,50,"
                      "1.400000e-04,1.390000e-04,1.420000e-04,1755,690,61,0,-,"})},
      {"host.csv", measured_text(kHostHeader, {"operator,pytorch,40,100,1.100000e-05,1.000000e-05,1.300000e-05"})},
      {"sustained.csv",
       measured_text(kSustainedHeader,
                     {"layer,bf16,30.5,1.000000e-02,100,1.060000e-02,1.050000e-02,1.080000e-02,1500,699,66,0.97,0"})},
      {"clocks.csv",
       measured_text("work,dtype,at_s,clock_mhz,power_w,temp_c,reasons", {"layer,bf16,0.1,1980,300,41,4"})},
      {"refused.csv", measured_text("suite,case,why", {"nccl,all_reduce nvls Simple GPUs 0 1,no algorithm"})},
      {"steps/gpt.csv", "name\n"},
  };
}

}  // namespace stepcast::calibrate
