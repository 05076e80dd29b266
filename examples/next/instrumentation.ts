/** Next calls this once, when the server starts. */
export async function register() {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return;
  const { store } = await import('./storage.ts');
  if ('migrate' in store) await store.migrate(); // creates the tables that are missing
}
