#pragma once
// IntrusiveList<T, Hook>: a doubly linked list through a hook inside T. No allocation, O(1)
// removal. The list does not own its elements; an element must leave its list before it dies.

#include "io/base/assert.h"

namespace weir::base {

struct ListHook {
  ListHook* previous = nullptr;
  ListHook* next = nullptr;
  bool linked() const { return next != nullptr; }
  void unlink() {
    if (!next) return;
    previous->next = next;
    next->previous = previous;
    previous = next = nullptr;
  }
};

// T derives from ListHook (or from a Tagged hook when it sits in several lists).
template <class T, class Hook = ListHook>
class IntrusiveList {
 public:
  IntrusiveList() { root_.previous = root_.next = &root_; }
  IntrusiveList(const IntrusiveList&) = delete;
  IntrusiveList& operator=(const IntrusiveList&) = delete;

  bool empty() const { return root_.next == &root_; }
  T& front() { return *static_cast<T*>(static_cast<Hook*>(root_.next)); }
  T& back() { return *static_cast<T*>(static_cast<Hook*>(root_.previous)); }

  void push_back(T& element) {
    Hook& hook = element;
    ASSERT(!hook.linked());
    hook.previous = root_.previous;
    hook.next = &root_;
    root_.previous->next = &hook;
    root_.previous = &hook;
  }
  T* pop_front() {
    if (empty()) return nullptr;
    T& element = front();
    static_cast<Hook&>(element).unlink();
    return &element;
  }
  // The element behind `element`; null at the end.
  T* next(T& element) {
    ListHook* hook = static_cast<Hook&>(element).next;
    return hook == &root_ ? nullptr : static_cast<T*>(static_cast<Hook*>(hook));
  }
  // Moves all of `other` behind the elements here.
  void splice_back(IntrusiveList& other) {
    while (T* element = other.pop_front()) push_back(*element);
  }

 private:
  ListHook root_;
};

// A second, third ... hook for elements that sit in several lists at once.
template <int Index>
struct TaggedHook : ListHook {};

}  // namespace weir::base
