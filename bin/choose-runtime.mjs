// Plain JavaScript that old Nodes can read: it decides which Node runs the program.

export const REQUIRED_NODE_MAJOR = 24;

/**
 * Decides where the program runs: in this process, in the Node that npm installed beside it, or nowhere.
 *
 * @param {{ version: string, platform: string, arch: string, packagedNode: string | null }} found the running Node, and
 *   the path of the one that npm installed
 * @returns {{ kind: 'here' } | { kind: 'elsewhere', node: string } | { kind: 'nowhere', message: string }}
 */
export function chooseRuntime({ version, platform, arch, packagedNode }) {
  if (Number(version.split('.')[0]) >= REQUIRED_NODE_MAJOR) return { kind: 'here' };
  if (packagedNode !== null) return { kind: 'elsewhere', node: packagedNode };
  return {
    kind: 'nowhere',
    message:
      `gym-model-proxy needs Node ${REQUIRED_NODE_MAJOR} or later; this is ${version} on ${platform} ${arch}. ` +
      `Install it (for example: nvm install ${REQUIRED_NODE_MAJOR}) and put it first on the PATH.`,
  };
}
