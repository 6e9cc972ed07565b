#pragma once
// LogStart: moves the log start offset of one partition: first durably, then for everybody to see,
// and last of all the files below it go. So a start that a client saw never goes back, whatever
// crashes, and nothing at or above it is ever missing (P1, I7). Owned by a Partition; one core.

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/log/log.h"
#include "engine/log/start_marker.h"
#include "engine/partition/messages.h"
#include "engine/partition/services.h"

namespace weir::partition {

// Files that recovery found below the log start; closed, and part of no log.
struct DeadFile {
  log::SegmentName name;
  uint64_t size = 0;
};

class LogStart {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_start_moved() = 0;
    // A write or sync failed (errno): the device is not trusted any more.
    virtual void on_start_failed(int error) = 0;
    // Whether the producers of batches below `offset` would be known after a crash without them.
    virtual bool producers_kept(model::Offset offset) = 0;
  };

  LogStart(Services& services, log::Log& log, Owner& owner);

  // What recovery found: markers on disk, and files to be taken away.
  void restore(std::vector<model::Offset> markers, const std::vector<DeadFile>& dead);
  void set_delete_delay(int64_t delay_ms) { delete_delay_ms_ = delay_ms; }

  // The start moves to `offset`, at most the high watermark, in the background; nothing happens
  // when it is there or beyond already.
  void move(model::Offset offset);
  // The same, and the request is answered when the start is at `offset` or beyond.
  void move(model::Offset offset, DeleteRecordsRequest& request);
  // Takes segments below the start out of the log and hands their files on, as far as nobody reads
  // them. To be called again when something that was in the way is over.
  void retire();
  // Segments that left the log because a cleaned one took their place: the same, once nobody reads
  // them.
  void retire(std::vector<std::unique_ptr<log::Segment>> replaced);
  // Somebody still reads a segment that left the log.
  bool retired_are_read() const;
  // Whoever waits is answered so.
  void fail_waiting(model::ErrorCode error);
  bool idle() const { return !marker_.busy() && waiting_.empty(); }

 private:
  struct Waiting {
    DeleteRecordsRequest* request;
    model::Offset offset;
  };
  struct Retired {
    std::unique_ptr<log::Segment> segment;
    io::Instant due;
  };

  io::Instant delete_time() const;
  void write_marker();
  void on_marked(io::Op& op);
  void answer(DeleteRecordsRequest& request, model::ErrorCode error);

  Services& services_;
  log::Log& log_;
  Owner& owner_;
  io::Op op_;
  log::StartMarker marker_;
  std::vector<model::Offset> markers_;  // on disk
  model::Offset wanted_{0};             // the start will be there once its marker is durable
  model::Offset writing_{0};            // the marker under way
  std::vector<Waiting> waiting_;
  std::vector<Retired> retired_;  // out of the log, still read
  std::vector<DeadFile> dead_;    // recovery found them
  int64_t delete_delay_ms_ = 0;
};

}  // namespace weir::partition
