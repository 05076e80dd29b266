/** SvelteKit's, which its compiler provides from `src/env.ts`. */
declare module '$app/env/private' {
  export const CALL_WEBHOOK_SECRET: string | undefined;
  export const RECORDING_WEBHOOK_SECRET: string | undefined;
}

declare module '@sveltejs/kit/env' {
  type Variable = { schema?: (value: string | undefined) => string | undefined };
  export function defineEnvVars<Variables extends Record<string, Variable>>(
    variables: Variables,
  ): Variables;
}
