#include "collectives/request.h"

namespace stepcast::collectives {

Request Request::resized(std::int64_t to) const {
  Request request = *this;
  request.elements = to;
  if (elements != 0) {
    for (std::int64_t& pair : request.pair_elements) {
      pair = pair * (to / elements) + pair * (to % elements) / elements;  // no overflow where both are below 2^31
    }
  }
  return request;
}

}  // namespace stepcast::collectives
