// What the clients of this folder share.

export function expect (what, wanted, got) {
  if (wanted !== got) {
    console.error(`FAILED: ${what}: expected ${wanted}, got ${got}`)
    process.exit(1)
  }
  console.log(`ok: ${what}: ${got}`)
}

// Waits until the condition holds; ends the process after 30 s.
export async function until (condition) {
  const end = Date.now() + 30_000
  while (!condition()) {
    if (Date.now() > end) expect('in time', true, false)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
