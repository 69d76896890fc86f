// Starts the operator's page.
import { OperatorPage } from "./components/OperatorPage.tsx";
import { start } from "./start.tsx";

start(<OperatorPage />);
