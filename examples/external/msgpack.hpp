// MessagePack in a hundred lines: as much of it as messages of cbsim need. Any library for MessagePack does as well.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace msgpack {

struct Value {                          // a value that has been read
  double number = 0.0;                  // of numbers, and of true and false
  std::string text;                     // of texts and of binary data
  std::vector<Value> items;             // of arrays
  std::map<std::string, Value> fields;  // of maps

  const Value& operator[](const std::string& key) const {
    auto found = fields.find(key);
    if (found == fields.end()) throw std::runtime_error("no field " + key);
    return found->second;
  }
  std::vector<double> doubles() const {  // of an array of cbsim: {dtype: "<f8", shape: […], data: …}
    const std::string& data = (*this)["data"].text;
    std::vector<double> values(data.size() / sizeof(double));
    std::memcpy(values.data(), data.data(), values.size() * sizeof(double));  // on a little-endian machine
    return values;
  }
};

class Reader {
 public:
  Reader(const void* data, size_t size) : at_(static_cast<const uint8_t*>(data)), end_(at_ + size) {}

  Value read() {
    Value value;
    const uint8_t kind = *take(1);
    if (kind <= 0x7f) value.number = kind;
    else if (kind >= 0xe0) value.number = static_cast<int8_t>(kind);
    else if (kind <= 0x8f) map(value, kind & 0x0f);
    else if (kind <= 0x9f) array(value, kind & 0x0f);
    else if (kind <= 0xbf) text(value, kind & 0x1f);
    else switch (kind) {
      case 0xc0: break;                                      // nil
      case 0xc2: break;                                      // false
      case 0xc3: value.number = 1.0; break;                  // true
      case 0xc4: case 0xd9: text(value, whole(1)); break;    // bin 8, str 8
      case 0xc5: case 0xda: text(value, whole(2)); break;
      case 0xc6: case 0xdb: text(value, whole(4)); break;
      case 0xca: { uint32_t bits = whole(4); float real; std::memcpy(&real, &bits, 4); value.number = real; break; }
      case 0xcb: { uint64_t bits = whole(8); std::memcpy(&value.number, &bits, 8); break; }
      case 0xcc: case 0xcd: case 0xce: case 0xcf: value.number = whole(1 << (kind - 0xcc)); break;
      case 0xd0: value.number = static_cast<int8_t>(whole(1)); break;
      case 0xd1: value.number = static_cast<int16_t>(whole(2)); break;
      case 0xd2: value.number = static_cast<int32_t>(whole(4)); break;
      case 0xd3: value.number = static_cast<int64_t>(whole(8)); break;
      case 0xdc: array(value, whole(2)); break;
      case 0xdd: array(value, whole(4)); break;
      case 0xde: map(value, whole(2)); break;
      case 0xdf: map(value, whole(4)); break;
      default: throw std::runtime_error("a type of MessagePack that cbsim does not use");
    }
    return value;
  }

 private:
  const uint8_t* take(size_t size) {
    if (size > static_cast<size_t>(end_ - at_)) throw std::runtime_error("the message ends early");
    const uint8_t* from = at_;
    at_ += size;
    return from;
  }
  uint64_t whole(int size) {
    uint64_t value = 0;
    for (const uint8_t* byte = take(size); size > 0; --size) value = value << 8 | *byte++;
    return value;
  }
  void text(Value& value, size_t size) { value.text.assign(reinterpret_cast<const char*>(take(size)), size); }
  void array(Value& value, size_t size) { while (size--) value.items.push_back(read()); }
  void map(Value& value, size_t size) {
    while (size--) {
      const std::string key = read().text;
      value.fields[key] = read();
    }
  }
  const uint8_t *at_, *end_;
};

class Map {  // a map with text, whole numbers and reals, to be sent
 public:
  Map& add(const std::string& key, const std::string& value) { count_++; text(key); text(value); return *this; }
  Map& add(const std::string& key, const char* value) { return add(key, std::string(value)); }
  Map& add(const std::string& key, int value) { count_++; text(key); big(0xd2, static_cast<uint32_t>(value), 4); return *this; }
  Map& add(const std::string& key, double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    count_++; text(key); big(0xcb, bits, 8);
    return *this;
  }
  std::string data() const { return static_cast<char>(0x80 | count_) + body_; }  // up to 15 fields

 private:
  void text(const std::string& value) { big(0xd9, value.size(), 1); body_ += value; }  // up to 255 letters
  void big(uint8_t kind, uint64_t bits, int size) {
    body_ += static_cast<char>(kind);
    while (size--) body_ += static_cast<char>(bits >> (8 * size));
  }
  std::string body_;
  int count_ = 0;
};

}  // namespace msgpack
