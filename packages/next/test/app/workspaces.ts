/** The signing secret of each workspace, such as `{"acme":"whsec_…"}`. */
const secrets = new Map(
  Object.entries(JSON.parse(process.env.WORKSPACE_SECRETS ?? '{}') as Record<string, string>),
);

export const workspaces = {
  secretOf: (name: string): Promise<string | undefined> => Promise.resolve(secrets.get(name)),
};
