"""Members of one consumer group (KIP-848) over confluent-kafka: one joins, one leaves, one is killed.

    consumer_group.py BOOTSTRAP member GROUP TOPIC    reads until a line comes on its input; says what
                                                      it is given
    consumer_group.py BOOTSTRAP produce TOPIC COUNT
    consumer_group.py BOOTSTRAP create TOPIC PARTITIONS
"""

import select
import sys

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic


def say(*words):
    print(*words, flush=True)


def member(bootstrap, group, topic):
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    held = set()

    def given(_, partitions):
        held.update(p.partition for p in partitions)
        consumer.incremental_assign(partitions)
        say("has", *sorted(held))

    def taken(_, partitions):
        held.difference_update(p.partition for p in partitions)
        consumer.incremental_unassign(partitions)
        say("has", *sorted(held))

    consumer.subscribe([topic], on_assign=given, on_revoke=taken, on_lost=taken)
    while True:
        message = consumer.poll(0.1)
        if message is not None and not message.error():
            say("read", message.partition(), message.offset())
            consumer.commit(message, asynchronous=False)
        if select.select([sys.stdin], [], [], 0)[0]:
            break
    consumer.close()
    say("left")


def main():
    bootstrap, what, *arguments = sys.argv[1:]
    if what == "member":
        member(bootstrap, *arguments)
    elif what == "create":
        name, partitions = arguments
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(name, int(partitions), 1)])[name].result()
    elif what == "produce":
        topic, count = arguments
        producer = Producer({"bootstrap.servers": bootstrap})
        for i in range(int(count)):
            producer.produce(topic, f"{i}".encode(), partition=i % 6)
        if producer.flush(30) != 0:
            raise SystemExit("not all records were taken")
    else:
        raise SystemExit(__doc__)


main()
