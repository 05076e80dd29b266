import { createReceiver, generateSecret, sign } from '@call-webhooks/core';

// The p99 of quiet tenants, alone and beside one that floods the receiver:
// node --import tsx --conditions=@call-webhooks/source packages/benchmarks/src/tenants.ts

const POOL = 20;
const HANDLER_MS = 5;
const DELIVERIES = 1_500;
const names = Array.from({ length: 50 }, (_, index) => `tenant-${String(index)}`);
const secrets = new Map([...names, 'flood'].map((name) => [name, generateSecret()]));
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A pool of connections, that all handlers share. */
let free = POOL;
const waiting: (() => void)[] = [];
async function useConnection(): Promise<void> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  await sleep(HANDLER_MS);
  const next = waiting.shift();
  if (next) next();
  else free += 1;
}

async function p99(maxInFlightPerTenant: number, isFlooded: boolean): Promise<number> {
  const receiver = createReceiver({
    tenant: ({ path }) => path.split('/')[2],
    secret: ({ tenant }) => secrets.get(tenant),
    maxInFlightPerTenant,
    on: { 'call:completed': useConnection },
    logger: { warn: () => undefined, error: () => undefined },
  });
  let sent = 0;
  const deliver = async (tenant: string) => {
    const callId = String(sent++);
    const body = new TextEncoder().encode(JSON.stringify({ eventName: 'call:completed', callId }));
    const headers = await sign({ secret: secrets.get(tenant) ?? '', body });
    const startedAt = performance.now();
    await receiver.receive({ url: `/hooks/${tenant}`, headers, body });
    return performance.now() - startedAt;
  };
  const flood = isFlooded
    ? setInterval(() => {
        for (let index = 0; index < 20; index++) void deliver('flood');
      }, 2)
    : undefined;
  const times: Promise<number>[] = [];
  for (let index = 0; index < DELIVERIES; index++) {
    times.push(deliver(names[index % names.length] ?? ''));
    await sleep(2);
  }
  const sorted = (await Promise.all(times)).sort((one, other) => one - other);
  clearInterval(flood);
  await receiver.close({ graceMs: 0 });
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

await p99(10, false);
const alone = await p99(10, false);
const limited = await p99(10, true);
const unlimited = await p99(1_000, true);
const ratio = (ms: number) => `${ms.toFixed(1)} ms, ${(ms / alone).toFixed(2)} times as long`;
console.log(
  `p99 of ${String(names.length)} quiet tenants, with a flood of 10,000/s of another one:`,
);
console.log(`alone                        ${alone.toFixed(1)} ms`);
console.log(`maxInFlightPerTenant: 10     ${ratio(limited)}`);
console.log(`maxInFlightPerTenant: 1,000  ${ratio(unlimited)}`);
process.exit();
