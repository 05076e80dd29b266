import type { Engine, EngineName } from './engine.ts';

/** Loads only this engine's modules: a killed process has to be up again soon. */
export async function openEngine(name: EngineName): Promise<Engine> {
  if (name === 'redis') return (await import('./redis.ts')).redis;
  if (name === 'postgres') return (await import('./postgres.ts')).postgres;
  if (name === 'mysql') return (await import('./mysql.ts')).mysql;
  return (await import('./sqlite.ts')).sqlite;
}
