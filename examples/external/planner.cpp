// A planner in C++: it drives to the end of its lane in a straight line, and stops there.
//
// c++ -std=c++17 -O2 planner.cpp -o planner -lzmq
// cbsim run four_way_stop --planner cmd:./planner
//
// The messages: docs/planner_protocol.md.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#if __has_include(<zmq.h>)
#include <zmq.h>
#else  // the few functions that it needs, where libzmq is installed without its headers
extern "C" {
void* zmq_ctx_new();
void* zmq_socket(void*, int);
int zmq_connect(void*, const char*);
int zmq_send(void*, const void*, size_t, int);
int zmq_recv(void*, void*, size_t, int);
}
constexpr int ZMQ_DEALER = 5;
#endif
#include "msgpack.hpp"

using msgpack::Map, msgpack::Value;

class Planner {
 public:
  void start(const Value& message) {
    max_steer_ = message["vehicle"]["max_steer"].number;
    for (const Value& lanelet : message["lanelets"].items) lines_.push_back(lanelet["centreline"].doubles());
  }
  Map plan(const Value& seen) {
    const std::vector<double> position = seen["position"].doubles();
    const double x = position[0], y = position[1];
    if (goal_.empty()) choose(x, y);
    const double away = std::hypot(goal_[0] - x, goal_[1] - y);
    const double bearing = std::atan2(x - goal_[0], goal_[1] - y) - seen["heading"].number;  // 0 is north
    const double wanted = std::min(5.0, std::sqrt(2.0 * std::max(0.0, away - 5.0)));
    const double throttle = std::clamp(0.5 * (wanted - seen["speed"].number), -1.0, 1.0);
    const double steering = std::clamp(std::remainder(bearing, 2.0 * M_PI) / max_steer_, -1.0, 1.0);
    return Map().add("type", "command").add("throttle", throttle).add("steering", steering);
  }

 private:
  void choose(double x, double y) {  // the end of the nearest centreline
    double best = HUGE_VAL;
    goal_ = {x, y};
    for (const std::vector<double>& line : lines_)
      for (size_t k = 0; k + 1 < line.size(); k += 2)
        if (const double away = std::hypot(line[k] - x, line[k + 1] - y); away < best)
          best = away, goal_ = {line[line.size() - 2], line[line.size() - 1]};
  }
  double max_steer_ = 1.0;
  std::vector<std::vector<double>> lines_;
  std::vector<double> goal_;
};

int main(int count, char** words) {
  const char* address = count > 1 ? words[1] : std::getenv("CBSIM_PLANNER_ADDRESS");
  void* socket = zmq_socket(zmq_ctx_new(), ZMQ_DEALER);
  if (address == nullptr || zmq_connect(socket, address) != 0) return std::cerr << "no address to connect to\n", 1;
  const auto send = [&](const Map& map) { zmq_send(socket, map.data().data(), map.data().size(), 0); };
  send(Map().add("type", "hello").add("protocol", 1).add("name", "example in C++"));
  std::vector<char> buffer(64 << 20);
  Planner planner;
  for (;;) {
    const int size = zmq_recv(socket, buffer.data(), buffer.size(), 0);
    if (size < 0 || static_cast<size_t>(size) > buffer.size()) return std::cerr << "cannot receive\n", 1;
    const Value message = msgpack::Reader(buffer.data(), size).read();
    const std::string& type = message["type"].text;
    if (type == "end") return 0;
    if (type == "start") planner.start(message), send(Map().add("type", "ready"));
    if (type == "plan") send(planner.plan(message).add("step", static_cast<int>(message["step"].number)));
  }
}
