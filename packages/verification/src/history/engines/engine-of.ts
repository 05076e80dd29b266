import type { Engine, EngineName } from './engine.ts';

/** Loads one alone: processes have to be up soon after they were killed. */
export async function engineOf(name: EngineName): Promise<Engine> {
  if (name === 'redis') return (await import('./redis.ts')).redis;
  if (name === 'postgres') return (await import('./postgres.ts')).postgres;
  return (await import('./sqlite.ts')).sqlite;
}
