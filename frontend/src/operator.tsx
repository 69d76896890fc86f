// Starts the operator page.
import { OperatorPage } from "./components/pages/OperatorPage.tsx";
import { start } from "./start.tsx";

start(<OperatorPage />);
