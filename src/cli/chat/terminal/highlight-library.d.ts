/** The part of highlight.js that is used. The types of the package bring those of a browser along. */
declare const library: {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string };
};
export default library;
