// kafkajs: create, produce, consume as a group, commit, resume, replay. argv: host:port
import { createRequire } from 'node:module'
import { expect, until } from './steps.mjs'

const require = createRequire(`${process.env.COMPAT_MODULES}/`)
const { Kafka, logLevel } = require('kafkajs')

const kafka = new Kafka({ brokers: [process.argv[2]], clientId: 'compat', logLevel: logLevel.ERROR })
const topic = 'compat'

async function read (groupId, count) {
  const values = []
  const consumer = kafka.consumer({ groupId })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({ eachMessage: async ({ message }) => { values.push(`${message.value}`) } })
  await until(() => values.length >= count)
  await consumer.stop()
  await consumer.disconnect()
  return values
}

const admin = kafka.admin()
await admin.connect()
await admin.createTopics({ topics: [{ topic, numPartitions: 3 }, { topic: 'gone' }] })
await admin.deleteTopics({ topics: ['gone'] })
expect('topics', 'compat', (await admin.listTopics()).filter(t => !t.startsWith('__')).join())

const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
await producer.connect()
const send = (from, count) => producer.send({
  topic,
  acks: -1,
  messages: Array.from({ length: count }, (_, i) => (
    { key: `user${i % 10}`, value: `value${from + i}`, headers: { kind: 'test' } }))
})
await send(0, 100)
expect('read by the group', 100, new Set(await read('group', 100)).size)
const since = Date.now()
await send(100, 50)
const resumed = await read('group', 50)
expect('group resumes at its commit', 50, resumed.length)
expect('only what is new', true, resumed.every(value => Number(value.slice(5)) >= 100))
expect('another group replays', 150, new Set(await read('replay', 150)).size)

const byTime = await admin.fetchTopicOffsetsByTimestamp(topic, since)
const ends = await admin.fetchTopicOffsets(topic)
const behind = ends.reduce((sum, end) => sum + Number(end.offset) -
  Number(byTime.find(start => start.partition === end.partition).offset), 0)
expect('records since a timestamp', 50, behind)
const committed = await admin.fetchOffsets({ groupId: 'group', topics: [topic] })
expect('committed offsets', 150,
  committed[0].partitions.reduce((sum, p) => sum + Math.max(0, Number(p.offset)), 0))

await admin.setOffsets({ groupId: 'replay', topic, partitions: [{ partition: 0, offset: '0' }] })
await admin.deleteGroups(['replay'])
await producer.disconnect()
await admin.disconnect()
