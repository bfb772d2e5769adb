/** A conversation with an agent of some SDK, as the scenarios of this folder drive it. */
export interface Conversation {
  /** Appends a prompt, lets the agent work, and gives its last text. Rejects with the SDK's own error. */
  ask(prompt: string): Promise<string>;
  /** Replaces the history by a summary, by the SDK's own means. */
  summarize(): Promise<void>;
  /** Another conversation that goes on from the history as it is now. */
  fork(): Promise<Conversation>;
}
