// Errors read as a sentence, also for numbers the system does not know.

#include "io/errors.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace weir::io {
namespace {

TEST(Errors, NameTheOperationTheSubjectAndTheCause) {
  EXPECT_EQ(describe({Operation::write, ENOSPC}, "/data/journal-0"),
            "write /data/journal-0: ENOSPC (No space left on device)");
  EXPECT_EQ(describe({Operation::sync_directory, EIO}, ""),
            "sync directory: EIO (Input/output error)");
  EXPECT_EQ(describe({Operation::open, 4095}, "x"), "open x: errno 4095 (unknown error)");
}

TEST(Errors, TakeResultsOfCompletionsAsTheyAre) {
  const auto error = failed(Operation::read, -EIO, "segment");
  EXPECT_EQ(error.error().code, EIO);
  EXPECT_EQ(error.error().detail, failed(Operation::read, EIO, "segment").error().detail);
}

TEST(Errors, ATakenPortComesWithItsRemedy) {
  const std::string text = describe({Operation::listen, EADDRINUSE}, "127.0.0.1:9092");
  EXPECT_NE(text.find("127.0.0.1:9092"), std::string::npos) << text;
  EXPECT_NE(text.find("another port"), std::string::npos) << text;
}

}  // namespace
}  // namespace weir::io
