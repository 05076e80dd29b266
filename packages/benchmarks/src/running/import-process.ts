// Imports one package in a fresh process, and prints the CPU microseconds that it took.
import { cpuMicros } from './protocol.ts';

const before = cpuMicros();
await import(process.argv[2] as string);
console.log(cpuMicros() - before);
