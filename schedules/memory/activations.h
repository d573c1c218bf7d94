#pragma once

#include "schedules/model/writer.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// Activation bytes that one layer of self-attention and feed-forward block keeps for the backward pass, for one
/// micro-batch on one tensor rank. gpt, unfused attention: sbh(10 + 24/t + 5as/ht), with sequence parallelism
/// sbh/t (34 + 5as/h), selective recomputation of the core drops the last term, full keeps the layer's input alone,
/// 2sbh: Korthikanti et al. 2022 (arXiv 2205.05198), eqs. 1 to 6 and table 2. Built from the tensors each operator
/// saves, so other families and flash attention follow from the same list. Context ranks share the sequence, expert
/// ranks the experts'.
double saved_activation_bytes(const Scenario& scenario, const StackSizes& sizes, Recompute recompute,
                              FeedForward kind = FeedForward::dense);

/// Its halves. Of cross-attention without the other stack's output, which all its layers share.
double saved_by_attention(const Scenario& scenario, const StackSizes& sizes, Recompute recompute);
double saved_by_feed_forward(const Scenario& scenario, const StackSizes& sizes, FeedForward kind, Recompute recompute);
/// A layer's input: all that full recomputation keeps.
double saved_input(const StackSizes& sizes);

}  // namespace stepcast::schedules
