// C110: which names are topics, both sides of each bound, and which names collide.
#include "engine/catalog/topic_name.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::catalog {
namespace {

TEST(TopicNameTest, LegalNames) {
  for (const std::string& name :
       {std::string("a"), std::string("..."), std::string("a.b_c-9Z"), std::string("__internal"),
        std::string("-"), std::string("_"), std::string(249, 'x')}) {
    EXPECT_FALSE(topic_name_fault(name)) << name;
  }
}

TEST(TopicNameTest, IllegalNames) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string(250, 'x'),
        std::string("a b"), std::string("../x"), std::string("a/b"), std::string("a\0b", 3),
        std::string("\xC3\xA9"), std::string("a\n"), std::string("a:b")}) {
    EXPECT_TRUE(topic_name_fault(name)) << name;
  }
}

TEST(TopicNameTest, PeriodAndUnderscoreCollideCaseDoesNot) {
  EXPECT_EQ(collision_key("a.b.c"), collision_key("a_b.c"));
  EXPECT_NE(collision_key("a.b"), collision_key("A.b"));
  EXPECT_NE(collision_key("a.b"), collision_key("a-b"));
}

TEST(TopicNameTest, InternalTopics) {
  EXPECT_TRUE(is_internal_topic("__consumer_offsets"));
  EXPECT_TRUE(is_internal_topic("__transaction_state"));
  EXPECT_FALSE(is_internal_topic("__consumer_offset"));
}

}  // namespace
}  // namespace weir::catalog
