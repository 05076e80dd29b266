// Imports one module in a fresh process, and prints how many CPU microseconds that took.
import { cpuMicros } from './messages.ts';

const before = cpuMicros();
await import(process.argv[2] as string);
console.log(cpuMicros() - before);
