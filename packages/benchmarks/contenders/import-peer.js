/** Imports a library that is installed here. */
export const importPeer = (name) => import(name);
