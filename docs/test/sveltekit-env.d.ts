/** SvelteKit's, which its compiler provides. */
declare module '$env/dynamic/private' {
  export const env: Record<string, string | undefined>;
}
