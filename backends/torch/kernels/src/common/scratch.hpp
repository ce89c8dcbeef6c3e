// A buffer that a thread keeps from call to call.
#pragma once
#include <cstdint>
#include <memory>
#include <new>

namespace grus {

class Scratch {
  public:
    uint8_t* at_least(int64_t bytes) {
        if (bytes > size_) {
            data_.reset(new (std::align_val_t(64)) uint8_t[static_cast<size_t>(bytes)]);
            size_ = bytes;
        }
        return data_.get();
    }

  private:
    struct Free {
        void operator()(uint8_t* p) const { ::operator delete[](p, std::align_val_t(64)); }
    };
    std::unique_ptr<uint8_t[], Free> data_;
    int64_t size_ = 0;
};

}  // namespace grus
